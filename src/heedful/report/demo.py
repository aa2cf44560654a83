"""What the demo found, in a table and in plain words."""

from pathlib import Path
from typing import NamedTuple

import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.experiments.truth import truth
from heedful.measures import summarise
from heedful.report.heatmap import terminal_heatmap
from heedful.report.instance import read_instance
from heedful.runs.directory import Run


class Finding(NamedTuple):
    """The figures of one model, as shares."""

    corpus: str
    encoder: str
    folder: Path
    accuracy: float
    mass: float | None  # mean attention on the tokens that decide
    share: float | None  # how many of the tokens decide
    top: float | None  # how often the most attended token decides
    example: str  # an instance in which it does not, if there is one


def find(corpus: str, run: Run) -> Finding:
    """Measure one run."""
    frame = truth(run.evidence)
    mass, share, top = (summarise(frame[name].cast(float).fill_null(float("nan"))).mean for name in frame.columns[1:])
    elsewhere = frame.filter(~pl.col("top"))
    example = (elsewhere if len(elsewhere) else frame)["id"][0]
    accuracy = run.metrics["test"]["accuracy"]
    return Finding(corpus, run.config.encoder, run.folder, accuracy, mass, share, top, example)


def demo_report(findings: list[Finding]) -> RenderableType:
    """The table, what it means, and an example."""
    worst = min(findings, key=lambda finding: finding.top or 0.0)
    return Group(
        _table(findings),
        Text(_words(findings, worst)),
        terminal_heatmap(read_instance(Run.open(worst.folder), worst.example)),
        Text(f"\nLook at more: heedful show {worst.folder}", no_wrap=True),
    )


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None)
    table.add_column("reviews", no_wrap=True)
    table.add_column("encoder", no_wrap=True)
    for column in (
        "accuracy",
        "attention on\nwords that\ndecide",
        "such words\nin a text",
        "most\nattended\nword decides",
    ):
        table.add_column(column, justify="right", no_wrap=True)
    for finding in findings:
        shown = (finding.accuracy, finding.mass, finding.share, finding.top)
        table.add_row(finding.corpus, finding.encoder, *map(_percent, shown))
    return table


def _words(findings: list[Finding], worst: Finding) -> str:
    """Compare the model that points at the right words least often with the best one on the same reviews."""
    rivals = [finding for finding in findings if finding.corpus == worst.corpus]
    best = max(rivals, key=lambda finding: finding.top or 0.0)
    words = (
        "\nEach made-up review has words that decide its label, and we know which they are. The table shows how well "
        "models classify, and how much of their attention lies on the words that decide.\n"
        f"On the {worst.corpus.split(',')[0]} reviews, the most attended word is one that decides in "
        f"{_percent(best.top)} of the texts for {best.encoder} (right on {_percent(best.accuracy)}), and in "
        f"{_percent(worst.top)} for {worst.encoder} (right on {_percent(worst.accuracy)}). "
    )
    if worst.accuracy >= best.accuracy and (worst.top or 0) < (best.top or 0):
        rank = "better" if worst.accuracy > best.accuracy else "equally good"
        words += f"The {rank} classifier has the worse map: being right does not make attention an explanation."
    return words + "\n"


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{100 * share:.0f} %"
