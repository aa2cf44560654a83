"""What the demo found, in a table and in plain words."""

from pathlib import Path
from typing import NamedTuple

import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.report.findings import MEASURES, Figures
from heedful.report.heatmap import terminal_heatmap
from heedful.report.instance import read_instance
from heedful.report.numbers import figure, percent, spread
from heedful.runs.directory import Run


class Finding(NamedTuple):
    """The figures of one model: means over its test texts, None where undefined."""

    corpus: str
    encoder: str
    folder: Path
    accuracy: float
    tau_gradient: float | None  # Kendall's tau of attention and gradient
    std_gradient: float | None
    significant_gradient: float | None  # share of texts with p <= 0.05
    tau_leave_one_out: float | None
    std_leave_one_out: float | None
    significant_leave_one_out: float | None
    permutation: float | None  # median TVD under permuted weights
    adversary: float | None  # eps-max JSD
    irrelevant: float | None  # share of texts of which no attention changes the decision, if that can be told
    mass: float | None  # attention on the words that decide
    top: float | None  # how often the most attended word decides
    example: str  # a text in which it does not, if there is one


def find(corpus: str, run: Run) -> Finding:
    """Collect the figures of one run."""
    names = ("correlation", "permutation", "adversary", "truth")
    correlation, permutation, adversary, truth = (Figures(run.results(name)) for name in names)
    free = Figures(run.results("reach")).get("can_change") if run.done("reach") else None
    elsewhere = truth.frame.filter(~pl.col("top"))
    taus = {
        f"{name}_{measure}": correlation.get(f"{quantity}_attention_{measure}", statistic)
        for measure in MEASURES
        for name, quantity, statistic in (
            ("tau", "tau", "mean"),
            ("std", "tau", "std"),
            ("significant", "significant", "mean"),
        )
    }
    return Finding(
        corpus=corpus,
        encoder=run.config.encoder,
        folder=run.folder,
        accuracy=run.metrics["test"]["accuracy"],
        **taus,
        permutation=permutation.get("median"),
        adversary=adversary.get("jsd"),
        irrelevant=None if free is None else 1 - free,
        mass=truth.get("mass"),
        top=truth.get("top"),
        example=(elsewhere if len(elsewhere) else truth.frame)["id"][0],
    )


def demo_report(findings: list[Finding]) -> RenderableType:
    """The table, what it means, and an example."""
    worst = _worst(findings)
    return Group(
        _table(findings),
        Text(_words(findings, worst)),
        terminal_heatmap(read_instance(Run.open(worst.folder), worst.example)),
    )


def demo_place(findings: list[Finding]) -> str:
    """Where to go on; to be printed without wrapping."""
    return f"\nLook at more: heedful show {_worst(findings).folder}"


def _worst(findings: list[Finding]) -> Finding:
    """The model that points at the right words least often."""
    return min(findings, key=lambda finding: finding.top or 0.0)


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("texts", "encoder"):
        table.add_column(column, no_wrap=True)
    for column in (
        "right",
        "tau with\ngradient",
        "\np≤0.05",
        "tau with\nleave-1-out",
        "\np≤0.05",
        "permu-\ntation",
        "adver-\nsary",
        "top word\ndecides",
    ):
        table.add_column(column, justify="right", no_wrap=True)
    for finding in findings:
        table.add_row(
            _short(finding),
            finding.encoder,
            percent(finding.accuracy),
            spread(finding.tau_gradient, finding.std_gradient),
            percent(finding.significant_gradient),
            spread(finding.tau_leave_one_out, finding.std_leave_one_out),
            percent(finding.significant_leave_one_out),
            figure(finding.permutation),
            figure(finding.adversary),
            percent(finding.top),
        )
    return table


def _words(findings: list[Finding], worst: Finding) -> str:
    """What the columns mean; then the model that points at the right words least often beside the best one."""
    words = (
        "\nEach made-up review has words that decide its label, each story a fact that answers its question, and we "
        "know which they are.\n"
        "tau: does attention rank a text's words as the gradient does, or as deleting each word in turn does? "
        "1: the same order; 0: no relation. p≤0.05: in how many texts the relation is significant. "
    )
    low = min(findings, key=lambda finding: finding.tau_gradient or 0.0)
    if (low.tau_gradient or 0.0) < 0.3:
        words += (
            f"Tau with the gradient is {figure(low.tau_gradient)} for {low.encoder} on {_called(low)}: "
            "who reads its attention and who reads its gradients are told different stories."
        )
    words += (
        "\npermutation: how far the output moves (TVD, 0 to 1) when the weights are shuffled; near 0: which word had "
        "which weight did not matter.\n"
        "adversary: how far other attention can be from the model's own (JSD, at most 0.69) if the output may move by "
        "0.01 only, for stories by 0.05 (for more than two classes: at least so far). "
    )
    far = max(findings, key=lambda finding: finding.adversary or 0.0)
    if (far.adversary or 0.0) > 0.4:
        words += (
            f"It is {figure(far.adversary)} for {far.encoder} on {_called(far)}: quite another heat-map would "
            "have gone with nearly the same output."
        )
    return f"{words}\n{_compared(findings, worst)}\n"


def _compared(findings: list[Finding], worst: Finding) -> str:
    """The model that points at the right words least often beside the best one on the same reviews."""
    rivals = [finding for finding in findings if finding.corpus == worst.corpus]
    best = max(rivals, key=lambda finding: finding.top or 0.0)
    if best.top == worst.top:
        return ""
    words = (
        f"top word: on {_called(worst)}, the most attended word is one that decides in "
        f"{percent(best.top)} of the texts for {best.encoder} (right on {percent(best.accuracy)}), and in "
        f"{percent(worst.top)} for {worst.encoder} (right on {percent(worst.accuracy)}). "
    )
    lead = worst.accuracy - best.accuracy
    if lead > -0.01:
        rank = "better" if lead > 0.01 else "equally good"
        words += f"The {rank} classifier has the worse map: being right does not make attention an explanation."
    return words


def _short(finding: Finding) -> str:
    return finding.corpus.partition(",")[0]


def _called(finding: Finding) -> str:
    """Its texts in a sentence."""
    short = _short(finding)
    return short if short == "stories" else f"{short} reviews"
