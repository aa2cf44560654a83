"""`heedful demo`: the newcomer's first minutes; needs no data."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

_CORPORA: dict[str, dict[str, Any]] = {
    "short, 2 classes": {},
    "long, 3 classes": {"verdicts": 2, "classes": 3, "length": 30, "test": 300},
}
_ENCODERS = ("bilstm", "cnn", "average")
_TRAINING = {"epochs": 4}
_IMPORTANCE = {"measures": ["gradient", "leave_one_out"]}  # what the table shows


def demo(
    seed: Annotated[
        int, typer.Option(help="Seed of the model and its training; corpora have their own (corpus_options.seed).")
    ] = 0,
    out: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs/demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Train attention models on built-in reviews whose deciding words are known, and test their attention."""
    from heedful.cli.console import bars, console, notices
    from heedful.report.demo import Finding, demo_place, demo_report, find
    from heedful.runs.execution import perform

    findings: list[Finding] = []
    for title, corpus_options in _CORPORA.items():
        for encoder in _ENCODERS:
            notices.print(f"[bold]{title}: {encoder} + additive attention[/]")
            values = {
                "corpus": "planted",
                "encoder": encoder,
                "seed": seed,
                "corpus_options": corpus_options,
                "training": _TRAINING,
                "importance": _IMPORTANCE,
            }
            with bars() as reporter:
                run = perform(values, out=out, reporter=reporter)
            findings.append(find(title, run))
    if as_json:
        typer.echo(json.dumps([finding._asdict() for finding in findings], default=str))
    else:
        console.print(demo_report(findings))
        console.print(demo_place(findings), markup=False, soft_wrap=True)
