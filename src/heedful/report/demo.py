"""What the demo found, in a table and in plain words."""

from pathlib import Path
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.experiments.truth import truth
from heedful.measures import summarise
from heedful.report.heatmap import terminal_heatmap
from heedful.report.instance import read_instance
from heedful.runs.directory import Run


class Finding(NamedTuple):
    """The figures of one model."""

    corpus: str
    encoder: str
    folder: Path
    accuracy: float
    mass: float  # mean attention on deciding tokens
    share: float  # the share of tokens that decide
    top: float  # how often the most attended token decides


def find(corpus: str, run: Run) -> Finding:
    """Measure one run."""
    frame = truth(run.evidence)
    mass, share, top = (
        summarise(frame[name].cast(float).fill_null(float("nan"))).mean for name in ("mass", "share", "top")
    )
    return Finding(
        corpus, run.config.encoder, run.folder, run.metrics["test"]["accuracy"], mass or 0, share or 0, top or 0
    )


def demo_report(findings: list[Finding]) -> RenderableType:
    """The table, an example, and what they mean."""
    table = Table(box=None)
    table.add_column("reviews", no_wrap=True)
    table.add_column("encoder", no_wrap=True)
    columns = ("accuracy", "attention on\nwords that\ndecide", "such words\nin a text", "most\nattended\nword decides")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for finding in findings:
        shown = (finding.accuracy, finding.mass, finding.share, finding.top)
        table.add_row(finding.corpus, finding.encoder, *(f"{100 * figure:.0f} %" for figure in shown))
    best, worst = (choose(findings, key=lambda finding: finding.top) for choose in (max, min))
    example = Run.open(worst.folder)
    words = Text(
        "\nEach made-up review has words that decide its label, and we know which they are. All models read the same "
        "reviews; the table shows how well they classify, and how much of their attention lies on the deciding words.\n"
        f"The most attended token is a deciding one in {100 * best.top:.0f} % of the texts for {best.encoder} "
        f"({best.corpus}), but in only {100 * worst.top:.0f} % for {worst.encoder} ({worst.corpus}), although that "
        f"model is right on {100 * worst.accuracy:.0f} %: being right does not make attention an explanation.\n"
    )
    hint = Text(f"\nLook at more: heedful show {worst.folder} --instance test-00001")
    return Group(table, words, terminal_heatmap(read_instance(example, None)), hint)
