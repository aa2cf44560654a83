"""`heedful audit`: may the attention of your own model be shown as an explanation?"""

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

_ANSWERS = {"yes": "yes", "caution": "with caution", "no": "no", "undetermined": "not determined"}
_UNITS = {"s": 1, "m": 60, "h": 3600}


def audit(
    run: Annotated[
        str | None, Argument(help="A finished run: its directory, the beginning of its name, or `latest`.")
    ] = None,
    hf: Annotated[str | None, Option(help="A transformers classifier: folder or name.")] = None,
    module: Annotated[
        str | None, Option(help="A torch module: FILE.py:NAME, a function that returns a heedful Subject.")
    ] = None,
    evidence: Annotated[
        Path | None, Option(help="An evidence file instead of a model: .parquet or .jsonl (docs/formats.md).")
    ] = None,
    data: Annotated[
        str | None, Option(help="Texts: a CSV, TSV, JSONL or Parquet file, or hf:NAME[:SPLIT] (datasets).")
    ] = None,
    text: Annotated[str, Option(help="Column of texts.")] = "text",
    label: Annotated[str | None, Option(help="Column of labels: class names or indices.")] = None,
    id_: Annotated[str | None, Option("--id", help="Column of unique ids.")] = None,
    importance: Annotated[
        Path | None, Option(help="Your own attributions to compare with attention: columns id, method, values.")
    ] = None,
    rationales: Annotated[
        str | None,
        Option(help="Words that people marked: a file (id, and spans or rationale), or a column of --data."),
    ] = None,
    map_: Annotated[
        str, Option("--map", help="With --hf: cls, layer:L[,head:H], rollout or norm (docs/audit.md).")
    ] = "cls",
    items: Annotated[str, Option(help="With --hf: tokens or words.")] = "tokens",
    truncate: Annotated[bool, Option("--truncate", help="Cut texts that exceed the model's maximum length.")] = False,
    skip_empty: Annotated[bool, Option("--skip-empty", help="Leave out empty texts.")] = False,
    skip_unlabelled: Annotated[
        bool, Option("--skip-unlabelled", help="With --label: leave out texts without a label.")
    ] = False,
    merge_labels: Annotated[
        bool, Option("--merge-labels", help="Labels may differ from the names of classes in case or spaces.")
    ] = False,
    sample: Annotated[
        str | None,
        Option(
            help="Texts that the tests read: a number (0: all), or auto, as many as it takes. Default: auto, or as "
            "the run had it."
        ),
    ] = None,
    budget: Annotated[
        str | None, Option(help="Test no more texts after so much time: 90s, 10m, 2h. Default: no limit.")
    ] = None,
    seed: Annotated[int | None, Option(help="Random seed. Default: 0, or that of the run.")] = None,
    full: Annotated[
        bool, Option("--full", help="Perform every test, not only those that the verdict rests on or that are cheap.")
    ] = False,
    exact: Annotated[
        bool, Option("--exact/--no-exact", help="Use exact tests where the logits are affine in the attention.")
    ] = True,
    device: Annotated[
        str | None,
        Option(help="Where the model computes: cpu, cuda, mps or auto. Default: auto with --hf; a --module stays."),
    ] = None,
    float32: Annotated[
        bool, Option("--float32", help="With --hf: compute in float32, whatever the model's own precision.")
    ] = False,
    threads: Annotated[int, Option(help="Torch threads; 0: torch's default, all cores.")] = 0,
    download: Annotated[bool, Option("--download", help="Allow downloading the model or the dataset.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Estimate the cost and do nothing else.")] = False,
    fail_on: Annotated[
        str, Option(help="Answers that exit with code 1, separated by commas: no, caution, undetermined, yes.")
    ] = "no",
    out: Annotated[Path, Option(help="Folder for audit directories.")] = Path("audits"),
    private: Annotated[bool, Option("--private", help="Only you can read what is written.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print verdict, metrics and costs as JSON.")] = False,
) -> None:
    """Test the attention of your own model, or of a finished run: may it be shown as an explanation?

    Exit code 0: yes or with caution; 1: no, or another answer that --fail-on names; 2: bad usage or input; 3: not
    determined.
    """
    from heedful.cli.console import bars, console

    failing = _answers(fail_on)
    from heedful.adapters.offline import offline
    from heedful.audits.directory import Audit
    from heedful.audits.execution import perform
    from heedful.audits.overview import plausibility_of
    from heedful.audits.request import Request
    from heedful.report.terminal.audit import audit_places, audit_summary, cost_table
    from heedful.runs.catalogue import named_run

    request = Request(
        run=None if run is None else named_run(run),
        hf=hf,
        module=module,
        evidence=evidence,
        map=map_,
        items=items,
        device=device,
        float32=float32,
        data=data,
        text=text,
        label=label,
        id=id_,
        truncate=truncate,
        skip_empty=skip_empty,
        skip_unlabelled=skip_unlabelled,
        merge_labels=merge_labels,
        importance=importance,
        rationales=rationales,
        sample=None if sample is None else _sample(sample),
        budget=_seconds(budget),
        seed=seed,
        full=full,
        exact=exact,
        download=download,
    )
    if dry_run:
        from heedful.audits.estimate import estimate

        with offline(download=download), bars() as reporter:
            costs = estimate(*request.resolved(), reporter, threads=threads)
        if as_json:
            typer.echo(json.dumps({"costs": [cost._asdict() for cost in costs]}))
        else:
            console.print(cost_table(costs))
        return
    with offline(download=download), bars() as reporter:
        options, inputs = request.resolved()
        opened = Audit.at(out / options.name, options)
        done = perform(opened, inputs, threads=threads, private=private, reporter=reporter)
    verdict = done.verdict
    if as_json:
        answer = verdict.to_json()
        facts = {"audit": str(done.folder), "verdict": answer, "metrics": done.metrics, "manifest": done.manifest}
        if (plausible := plausibility_of(done)) is not None:
            facts["plausibility"] = plausible.to_json()
        typer.echo(json.dumps(facts))
    else:
        console.print(audit_summary(done))
        console.print(audit_places(done), markup=False, soft_wrap=True)
    if verdict.answer in failing:
        raise typer.Exit(1)
    if verdict.answer == "not determined":
        raise typer.Exit(3)


def _answers(names: str) -> list[str]:
    """The answers that --fail-on names."""
    from heedful.errors import unknown_name

    named = []
    for name in names.split(","):
        if name.strip() not in _ANSWERS:
            raise unknown_name("answer to fail on", name.strip(), list(_ANSWERS))
        named.append(_ANSWERS[name.strip()])
    return named


def _sample(value: str) -> int | str:
    from heedful.errors import BadConfig

    if value == "auto":
        return value
    if not value.isdecimal():
        raise BadConfig(f"--sample {value}: give a whole number of texts (0: all), or auto")
    return int(value)


def _seconds(value: str | None) -> float | None:
    """A time such as 90s, 10m or 2h, in seconds."""
    from heedful.errors import BadConfig

    if value is None:
        return None
    number, unit = (value[:-1], value[-1:]) if value[-1:] in _UNITS else (value, "s")
    try:
        seconds = float(number) * _UNITS[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise BadConfig(f"--budget {value}: give a time such as 90s, 10m or 2h")
    return seconds
