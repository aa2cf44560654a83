"""What the demo found: verdicts, tables, and what they mean."""

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
from heedful.verdict.verdict import QUESTION, Answer
from heedful.verdict.wording import explanation

_FIRST: tuple[Answer, ...] = ("no", "with caution", "not determined", "yes")
_REMOVED = {"attention": "attention", "gradient": "gradient", "random": "random", "optimal": "least"}
_ERASED = {"attention": "attention", "leave_one_out": "leave-1", "random": "random"}


class Finding(NamedTuple):
    """The verdict and figures of one model: means over its test texts, None where undefined."""

    corpus: str
    model: str
    encoder: str
    folder: Path
    verdict: Answer  # may its attention be shown?
    why: str  # in a sentence
    accuracy: float
    tau_gradient: float | None  # Kendall's tau of attention and gradient
    std_gradient: float | None
    significant_gradient: float | None  # share of texts with p <= 0.05
    tau_leave_one_out: float | None
    std_leave_one_out: float | None
    significant_leave_one_out: float | None
    permutation: float | None  # median TVD under permuted weights
    adversary: float | None  # eps-max JSD
    irrelevant: float | None  # share of texts whose decision no attention changes, if known
    mass: float | None  # attention on the deciding words
    top: float | None  # how often the top-attended item is a deciding one
    removed: Shares  # by ranking: share of a text's items zeroed until the decision flips
    erased: Shares  # the same for items deleted from the text
    example: str  # a text where it is not, if there is one

    @property
    def texts(self) -> str:
        """Its texts, in a word."""
        return self.corpus.partition(",")[0].partition(" ")[0]

    @property
    def reader(self) -> str:
        """The model: its encoder and, unless it is a plain classifier, its kind."""
        return self.encoder if self.model == "classifier" else f"{self.model} {self.encoder}"

    @property
    def texts_in_words(self) -> str:
        """Its texts, in a sentence."""
        return f"{self.texts} reviews" if self.texts in ("short", "long") else self.texts


def find(corpus: str, run: Run) -> Finding:
    """Collect the figures of one run."""
    names = ("correlation", "permutation", "adversary", "truth")
    correlation, permutation, adversary, truth = (Statistics(run.results(name)) for name in names)
    free = Statistics(run.results("reach")).get("can_change") if run.done("reach") else None
    elsewhere = truth.frame.filter(~pl.col("top"))
    parts = {"tau": ("tau", "mean"), "std": ("tau", "std"), "significant": ("significant", "mean")}
    taus = {
        f"{name}_{measure}": correlation.get(f"{quantity}_attention_{measure}", statistic)
        for measure in MEASURES
        for name, (quantity, statistic) in parts.items()
    }
    removed, verdict = removed_shares(run.results("removal")), run.verdict
    return Finding(
        corpus=corpus,
        model=run.config.model,
        encoder=run.config.encoder,
        folder=run.folder,
        verdict=verdict.answer,
        why=explanation(verdict.answer, verdict.words).partition(". ")[0].rstrip("."),
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
    """The verdicts, tables with what they mean, and an example."""
    worst = _worst(findings)
    return Group(
        Text(_verdicts(findings)),
        _agreement_table(findings),
        Text(_agreement_words(findings, worst)),
        _removal_table(findings),
        Text(_removal_words(findings)),
        terminal_heatmap(read_instance(Run.open(worst.folder), worst.example)),
    )


def demo_place(findings: list[Finding]) -> str:
    """Where to look next; printed without wrapping."""
    return f"\nSee more: heedful show {_worst(findings).folder}"


def _removal_table(findings: list[Finding]) -> Table:
    """One row a model."""
    table = _plain_table("Share of items removed until the decision flips, by order of removal")
    for place, names in (("zeroed:", _REMOVED), ("deleted:", _ERASED)):
        for index, name in enumerate(names.values()):
            table.add_column(f"{place if not index else ''}\n{name}", justify="right", overflow="fold")
    for finding in findings:
        cells = [percent(share) if share is not None else "" for share in finding.removed.values()]
        cells += [percent(finding.erased[name]) for name in _ERASED]
        table.add_row(finding.texts, finding.reader, *cells)
    return table


def _removal_words(findings: list[Finding]) -> str:
    """What the columns mean, and the model whose attention order is furthest from the optimum."""
    words = (
        "\nzeroed: items lose their weight and the others share it; least: the smallest set that flips the decision, "
        "found exactly. deleted: items are deleted from the text and the model is re-run.\n"
    )
    pairs = ((each, each.removed["attention"] or 0.0, each.removed["optimal"]) for each in findings)
    known = [(each, needed, least) for each, needed, least in pairs if least is not None]
    if known:
        finding, needed, least = max(known, key=lambda each: each[1] - each[2])
        words += (
            f"In attention order, {finding.reader} loses {percent(needed)} of its items on {finding.texts} texts "
            f"before its decision flips; {percent(least)} would be enough.\n"
        )
    return words


def _worst(findings: list[Finding]) -> Finding:
    """The model that points at the deciding words least often."""
    return min(findings, key=lambda finding: finding.top or 0.0)


def _verdicts(findings: list[Finding]) -> str:
    """The answer for each model, with the reason; no first."""
    order = sorted(findings, key=lambda finding: _FIRST.index(finding.verdict))
    lines = [
        f"{each.verdict.capitalize()}: {each.texts} {each.reader} ({percent(each.accuracy)} correct). {each.why}."
        for each in order
    ]
    return "\n".join([QUESTION, *lines, ""])


def _plain_table(title: str | None = None) -> Table:
    """A table whose first two columns name texts and model."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("texts", "model"):
        table.add_column(column, no_wrap=True)
    return table


def _agreement_table(findings: list[Finding]) -> Table:
    table = _plain_table()
    taus = ("tau with\ngradient", "\np≤0.05", "tau with\nleave-1", "\np≤0.05")
    for column in ("accu-\nracy", *taus, "permu-\ntation", "adver-\nsary", "top\ndecides"):
        table.add_column(column, justify="right", overflow="fold")
    for finding in findings:
        table.add_row(
            finding.texts,
            finding.reader,
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


def _agreement_words(findings: list[Finding], worst: Finding) -> str:
    """What the columns mean, with the most striking figures."""
    words = (
        "\nEach made-up review has words that decide its label, each story a fact that answers its question, and we "
        "know which they are.\n"
        "tau: does attention rank a text's words as the gradient does, or as deleting each word in turn (leave-1) "
        "does? 1: same order; 0: unrelated. p≤0.05: share of texts where the relation is significant. "
    )
    low = min(findings, key=lambda finding: finding.tau_gradient or 0.0)
    if (low.tau_gradient or 0.0) < 0.3:
        words += (
            f"Tau with the gradient is {figure(low.tau_gradient)} for {low.reader} on {low.texts_in_words}: "
            "its attention and its gradients tell different stories."
        )
    words += (
        "\npermutation: how far the output moves (TVD, 0 to 1) when the weights are shuffled; near 0: it did not "
        "matter which word had which weight.\n"
        "adversary: how different a map can be (JSD, at most 0.69) while the output moves by at most 0.01, for stories "
        "0.05 (a lower bound for more than two classes). "
    )
    far = max(findings, key=lambda finding: finding.adversary or 0.0)
    if (far.adversary or 0.0) > 0.4:
        words += (
            f"It is {figure(far.adversary)} for {far.reader} on {far.texts_in_words}: a quite different heat-map "
            "would have gone with nearly the same output."
        )
    return f"{words}\n{_compared(findings, worst)}\n"


def _compared(findings: list[Finding], worst: Finding) -> str:
    """The model that points at the deciding words least often, next to the best one on the same texts."""
    rivals = [finding for finding in findings if finding.corpus == worst.corpus]
    best = max(rivals, key=lambda finding: finding.top or 0.0)
    if best.top == worst.top:
        return ""
    words = (
        f"top decides: on {worst.texts_in_words}, the top-attended item is a deciding one in {percent(best.top)} of "
        f"texts for {best.reader} (accuracy {percent(best.accuracy)}) and in {percent(worst.top)} for {worst.reader} "
        f"(accuracy {percent(worst.accuracy)}). "
    )
    lead = worst.accuracy - best.accuracy
    if lead > -0.01:
        rank = "better" if lead > 0.01 else "equally good"
        words += f"The {rank} classifier has the worse map: accuracy does not make attention an explanation."
    return words
