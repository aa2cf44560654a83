"""What the demo found, in a table and in plain words."""

from pathlib import Path
from typing import NamedTuple

import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.findings.published import MEASURES
from heedful.findings.run_summary import Shares, Statistics, deleted_shares, removed_shares
from heedful.printable import figure, percent, spread
from heedful.report.heatmaps.instance import read_instance
from heedful.report.heatmaps.terminal import terminal_heatmap
from heedful.runs.directory import Run

_REMOVED = {"attention": "attention", "gradient": "gradient", "random": "random", "optimal": "least"}
_ERASED = {"attention": "attention", "leave_one_out": "leave-1", "random": "random"}


class Race(NamedTuple):
    """The shares of one model's items, by ranking; a decision that never changes counts as all items."""

    texts: str
    model: str
    removed: Shares  # from what is attended
    erased: Shares  # from what is read


def races_table(races: list[Race]) -> Table:
    """One row a model."""
    table = Table(
        title="Items that must go until the decision changes, by the order they go in",
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for column in ("texts", "model"):
        table.add_column(column, no_wrap=True)
    for place, names in (("zeroed:", _REMOVED), ("deleted:", _ERASED)):
        for index, name in enumerate(names.values()):
            table.add_column(f"{place if not index else ''}\n{name}", justify="right", overflow="fold")
    for race in races:
        cells = [percent(race.removed[name]) if race.removed[name] is not None else "" for name in _REMOVED]
        cells += [percent(race.erased[name]) for name in _ERASED]
        table.add_row(race.texts, race.model, *map(Text, cells))
    return table


def races_words(races: list[Race]) -> str:
    """What the columns mean, and the model whose attention wastes most."""
    words = (
        "\nzeroed: items lose their weight, the others share it; least: the smallest set that changes the decision, "
        "found exactly. deleted: items are taken out of the text, which the model reads again.\n"
    )
    known = [(race, *_pair(race.removed)) for race in races if race.removed["optimal"] is not None]
    if known:
        race, needed, least = max(known, key=lambda each: each[1] - each[2])
        words += (
            f"Going by attention, {race.model} must lose {percent(needed)} of its items on {race.texts} texts before "
            f"it decides otherwise, where {percent(least)} would do.\n"
        )
    return words


def _pair(removed: Shares) -> tuple[float, float]:
    return removed["attention"] or 0.0, removed["optimal"] or 0.0


class Finding(NamedTuple):
    """The figures of one model: means over its test texts, None where undefined."""

    corpus: str
    model: str
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
    top: float | None  # how often the most attended item decides
    removed: dict[str, float | None]  # by ranking: the share of a text's items removed until the decision changes
    erased: dict[str, float | None]  # the same for items deleted from the text
    example: str  # a text in which it does not, if there is one


def find(corpus: str, run: Run) -> Finding:
    """Collect the figures of one run."""
    names = ("correlation", "permutation", "adversary", "truth")
    correlation, permutation, adversary, truth = (Statistics(run.results(name)) for name in names)
    free = Statistics(run.results("reach")).get("can_change") if run.done("reach") else None
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
    removed = removed_shares(run.results("removal"))
    return Finding(
        corpus=corpus,
        model=run.config.model,
        encoder=run.config.encoder,
        folder=run.folder,
        accuracy=run.metrics["test"]["accuracy"],
        **taus,
        permutation=permutation.get("median"),
        adversary=adversary.get("jsd"),
        irrelevant=None if free is None else 1 - free,
        mass=truth.get("mass"),
        top=truth.get("top"),
        removed={name: removed.get(name) for name in _REMOVED},
        erased=deleted_shares(run.results("erasure")),
        example=(elsewhere if len(elsewhere) else truth.frame)["id"][0],
    )


def demo_report(findings: list[Finding]) -> RenderableType:
    """The table, what it means, and an example."""
    worst = _worst(findings)
    races = [Race(_short(finding), _reader(finding), finding.removed, finding.erased) for finding in findings]
    return Group(
        _table(findings),
        Text(_words(findings, worst)),
        races_table(races),
        Text(races_words(races)),
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
    for column in ("texts", "model"):
        table.add_column(column, no_wrap=True)
    for column in (
        "right",
        "tau with\ngradient",
        "\np≤0.05",
        "tau with\nleave-1",
        "\np≤0.05",
        "permu-\ntation",
        "adver-\nsary",
        "top\ndecides",
    ):
        table.add_column(column, justify="right", overflow="fold")
    for finding in findings:
        table.add_row(
            _short(finding),
            _reader(finding),
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
            f"Tau with the gradient is {figure(low.tau_gradient)} for {_reader(low)} on {_called(low)}: "
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
            f"It is {figure(far.adversary)} for {_reader(far)} on {_called(far)}: quite another heat-map would "
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
        f"top item: on {_called(worst)}, the most attended item is one that decides in "
        f"{percent(best.top)} of the texts for {_reader(best)} (right on {percent(best.accuracy)}), and in "
        f"{percent(worst.top)} for {_reader(worst)} (right on {percent(worst.accuracy)}). "
    )
    lead = worst.accuracy - best.accuracy
    if lead > -0.01:
        rank = "better" if lead > 0.01 else "equally good"
        words += f"The {rank} classifier has the worse map: being right does not make attention an explanation."
    return words


def _short(finding: Finding) -> str:
    return finding.corpus.partition(",")[0].partition(" ")[0]


def _reader(finding: Finding) -> str:
    """The model: its encoder and, where it is not the usual one, its kind."""
    return finding.encoder if finding.model == "classifier" else f"{finding.model} {finding.encoder}"


def _called(finding: Finding) -> str:
    """Its texts in a sentence."""
    short = _short(finding)
    return f"{short} reviews" if short in ("short", "long") else short
