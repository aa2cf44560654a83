"""`heedful demo`: the first minutes with heedful; needs no data."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

_TYPICAL = 96  # texts that determine most verdicts
_REVIEWS: dict[str, dict[str, Any]] = {
    "short, 2 classes": {},
    "long, 3 classes": {"verdicts": 2, "classes": 3, "length": 30, "test": 200},
}
_ENCODERS = {"short, 2 classes": ("bilstm", "cnn", "average"), "long, 3 classes": ("bilstm", "average")}
_EPOCHS = 4
_STORIES = {
    "corpus": "babi-1-simulated",
    "corpus_options": {"train": 3000, "test": 200},
    "training": {"epochs": 12, "batch": 32, "learning_rate": 0.003},  # a tenth of the steps of a full run
}
_DOCUMENTS = {"verdicts": 2, "length": 30, "train": 1200, "test": 200}
_COMMON = {
    "importance": {"measures": ["gradient", "leave_one_out"]},  # what the table shows
    # texts of tests that need many forward passes, and of what the verdict rests on
    "experiment_options": {"sample": 40, "highlights": _TYPICAL},
}


def demo(
    seed: Annotated[int, Option(help="Seed of the models and their training.")] = 0,
    out: Annotated[Path, Option(help="Folder for run directories.")] = Path("runs/demo"),
    site: Annotated[Path, Option(help="Folder of the report.")] = Path("runs/demo-site"),
    as_json: Annotated[bool, Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Train models on built-in texts whose deciding words are known, test their attention, write a report."""
    from heedful.cli.console import bars, console, notices
    from heedful.errors import MissingExtra
    from heedful.report.site.writer import report_place
    from heedful.report.terminal.demo import Finding, demo_place, demo_report, find
    from heedful.runs.execution import perform

    report_place(site, option="--site")  # before minutes of training
    findings: list[Finding] = []
    for title, values in _runs():
        model = ", ".join(values[key] for key in ("model", "encoder") if key in values)
        notices.print(f"[bold]{title}: {model} + additive attention[/]")
        with bars(brief=True) as reporter:
            run = perform({**values, **_COMMON, "seed": seed}, out=out, reporter=reporter)
        findings.append(find(title, run))
    try:
        explore = _report([finding.folder for finding in findings], site)
    except MissingExtra as error:  # the figures are worth having without it
        explore = str(error)
    if as_json:
        typer.echo(json.dumps([finding._asdict() for finding in findings], default=str))
    else:
        console.print(demo_report(findings))
        console.print(f"{demo_place(findings)}\n{explore}", markup=False, soft_wrap=True)


def _report(folders: list[Path], site: Path) -> str:
    """Write the report; where to open it."""
    from heedful.cli.console import bars, notices
    from heedful.findings.gathering import gather
    from heedful.report.charts.render import require_libraries

    require_libraries()
    from heedful.report.site.writer import write_site

    notices.print("[bold]report[/]")
    with bars() as reporter:
        written = write_site(gather(folders), site, formats=["svg"], reporter=reporter)  # others take longer
    return f"Explore: open {written.page.resolve().as_uri()}"


def _runs() -> Iterator[tuple[str, dict[str, Any]]]:
    for title, corpus_options in _REVIEWS.items():
        for encoder in _ENCODERS[title]:
            planted = {"corpus": "planted", "corpus_options": corpus_options, "training": {"epochs": _EPOCHS}}
            yield title, {**planted, "encoder": encoder}
    yield "stories, a question each", {**_STORIES, "encoder": "bilstm"}
    for model in ("flan", "han"):
        documents = {"corpus": "planted", "corpus_options": _DOCUMENTS, "training": {"epochs": _EPOCHS}}
        yield "docs, of several sentences", {**documents, "model": model, "encoder": "bigru"}
