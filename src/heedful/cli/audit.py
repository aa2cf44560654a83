"""`heedful audit`: may the attention of your own model be shown as an explanation?"""

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Option


def audit(
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
    map_: Annotated[
        str, Option("--map", help="With --hf: cls, layer:L[,head:H], rollout or norm (docs/audit.md).")
    ] = "cls",
    items: Annotated[str, Option(help="With --hf: tokens or words.")] = "tokens",
    truncate: Annotated[bool, Option("--truncate", help="Cut texts that exceed the model's maximum length.")] = False,
    skip_empty: Annotated[bool, Option("--skip-empty", help="Skip empty texts.")] = False,
    sample: Annotated[int, Option(help="Texts that the tests read; 0: all.")] = 200,
    seed: Annotated[int, Option(help="Random seed.")] = 0,
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
    fail_on: Annotated[str, Option(help="Exit with code 1 on this answer or worse: no or caution.")] = "no",
    out: Annotated[Path, Option(help="Folder for audit directories.")] = Path("audits"),
    as_json: Annotated[bool, Option("--json", help="Print verdict, metrics and costs as JSON.")] = False,
) -> None:
    """Test the attention of your own model: may it be shown as an explanation?

    Exit code 0: yes or with caution; 1: no (with --fail-on caution: or with caution); 2: bad usage or input.
    """
    from heedful.cli.console import bars, console
    from heedful.errors import unknown_name

    if fail_on not in ("no", "caution"):
        raise unknown_name("answer to fail on", fail_on, ["no", "caution"])
    from heedful.audits.directory import Audit
    from heedful.audits.execution import perform
    from heedful.audits.request import Request
    from heedful.report.terminal.audit import audit_places, audit_summary, cost_table

    request = Request(
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
        importance=importance,
        sample=sample,
        seed=seed,
        full=full,
        exact=exact,
        download=download,
    )
    if dry_run:
        from heedful.audits.estimate import estimate

        with bars() as reporter:
            costs = estimate(*request.resolved(), reporter, threads=threads)
        if as_json:
            typer.echo(json.dumps({"costs": [cost._asdict() for cost in costs]}))
        else:
            console.print(cost_table(costs))
        return
    with bars() as reporter:
        options, inputs = request.resolved()
        done = perform(Audit.at(out / options.name, options), inputs, threads=threads, reporter=reporter)
    verdict = done.verdict
    if as_json:
        answer = verdict.to_json()
        facts = {"audit": str(done.folder), "verdict": answer, "metrics": done.metrics, "manifest": done.manifest}
        typer.echo(json.dumps(facts))
    else:
        console.print(audit_summary(done))
        console.print(audit_places(done), markup=False, soft_wrap=True)
    if verdict.answer == "no" or (fail_on == "caution" and verdict.answer == "with caution"):
        raise typer.Exit(1)
