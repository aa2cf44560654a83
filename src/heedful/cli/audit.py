"""`heedful audit`: may the attention of somebody's own model be shown as an explanation?"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def audit(
    hf: Annotated[str | None, typer.Option(help="A transformers classifier: its folder, or its name.")] = None,
    module: Annotated[
        str | None,
        typer.Option(help="Any torch module: FILE.py:NAME, a function in your file that returns a heedful Subject."),
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option(help="No model, but its evidence: .parquet or .jsonl (docs/formats.md).")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Texts: a CSV, TSV, JSONL or Parquet file, or hf:NAME[:SPLIT] (datasets).")
    ] = None,
    text: Annotated[str, typer.Option(help="The column of texts.")] = "text",
    label: Annotated[str | None, typer.Option(help="The column of labels: class names or indices.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="The column of unique names.")] = None,
    importance: Annotated[
        Path | None, typer.Option(help="Importance measured elsewhere, to be raced: id, method, values.")
    ] = None,
    map_: Annotated[
        str, typer.Option("--map", help="With --hf: cls, layer:L[,head:H], rollout or norm (docs/audit.md).")
    ] = "cls",
    items: Annotated[str, typer.Option(help="With --hf: tokens or words.")] = "tokens",
    truncate: Annotated[
        bool, typer.Option("--truncate", help="Cut texts that are longer than the model reads.")
    ] = False,
    skip_empty: Annotated[bool, typer.Option("--skip-empty", help="Leave empty texts out.")] = False,
    sample: Annotated[int, typer.Option(help="Texts of the tests that read each one many times; 0: all.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the sample and of all draws.")] = 0,
    exact: Annotated[
        bool, typer.Option("--exact/--no-exact", help="Go by scores where logits are affine in attention.")
    ] = True,
    threads: Annotated[int, typer.Option(help="Threads of arithmetic; 0: as many as torch takes.")] = 0,
    download: Annotated[bool, typer.Option("--download", help="Allow to fetch the model or the dataset.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it would cost, and do nothing.")] = False,
    fail_on: Annotated[str, typer.Option(help="From which answer on the exit code is 1: no, or caution.")] = "no",
    out: Annotated[Path, typer.Option(help="Where audit directories go.")] = Path("audits"),
    as_json: Annotated[bool, typer.Option("--json", help="Print verdict, metrics and costs as JSON.")] = False,
) -> None:
    """Put the attention of your own model to the tests, and say whether it may be shown as an explanation.

    Exit code 0: yes, or with caution; 1: no (or, with --fail-on caution, with caution); 2: bad use or bad input.
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
        data=data,
        text=text,
        label=label,
        id=id_,
        truncate=truncate,
        skip_empty=skip_empty,
        importance=importance,
        sample=sample,
        seed=seed,
        exact=exact,
        download=download,
    )
    with bars() as reporter:
        options, inputs = request.resolved()
        if dry_run:
            from heedful.audits.estimate import estimate

            costs = estimate(options, inputs, reporter)
        else:
            done = perform(Audit.at(out / options.name, options), inputs, threads=threads, reporter=reporter)
    if dry_run:
        told = [cost._asdict() for cost in costs]
        typer.echo(json.dumps({"costs": told})) if as_json else console.print(cost_table(costs))
        return
    verdict = done.verdict
    if as_json:
        answer: dict[str, Any] = verdict.to_json()
        answer.pop("instances")
        facts = {"audit": str(done.folder), "verdict": answer, "metrics": done.metrics, "manifest": done.manifest}
        typer.echo(json.dumps(facts))
    else:
        console.print(audit_summary(done))
        console.print(audit_places(done), markup=False, soft_wrap=True)
    if verdict.answer == "no" or (fail_on == "caution" and verdict.answer == "with caution"):
        raise typer.Exit(1)
