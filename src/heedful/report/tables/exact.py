"""How soon decisions change when items are erased from the text, by the order they go in."""

from collections.abc import Iterable

import polars as pl

from heedful.experiments import erasure_scores, estimates, substitution_scores
from heedful.findings.source import Source
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout, estimate, number, share, told
from heedful.report.tables.serrano_smith import ranking_name
from heedful.report.tables.table import Column

_WAYS = {"delete": "deleted", "unknown": "unknown", "blank": "blank"}


def _erasure_rows(source: Source) -> Iterable[Cells]:
    frame = source.results("erasure")
    for row in erasure_scores(frame, seed=SEED, draws=DRAWS).iter_rows(named=True):
        never = row["never"] / row["n"] if row["n"] else None
        names = {"way": _WAYS[row["way"]], "ranking": ranking_name(row["ranking"])}
        yield {**row, **names, "sampled": len(frame), "never": never}


ERASURE = Layout(
    name="erasure",
    title="Erasure: items taken out of the text",
    caption=(
        "Items are erased from what the model reads, deleted or made unknown or blank, in the order of a ranking. "
        "A decision that never changes counts as all items erased. Comprehensiveness and sufficiency: how far the "
        "probability of the decision falls without the items that rank first (high is good), and with them alone (low "
        "is good)."
    ),
    columns=(
        Column("way", "erased", meaning="How items are erased: deleted, or replaced by a word that says nothing."),
        Column("ranking", "ranking", meaning="In whose order."),
        number("sampled", "sampled", "Test instances drawn for this experiment."),
        number("n", "n", "Those of several items."),
        Column("never", "never", "percent", 1, "Share of instances whose decision never changes."),
        *share("fraction_all", "items", "Mean share of the items erased until the decision changes; all if never."),
        *estimate("comprehensiveness", "comprehensiveness", "Mean fall without the first items."),
        *estimate("sufficiency", "sufficiency", "Mean fall with the first items alone."),
    ),
    rows=_erasure_rows,
    needs=("erasure",),
)


def _reach_rows(source: Source) -> Iterable[Cells]:
    frame = source.results("reach")
    found = estimates(frame.select("gap", irrelevant=~pl.col("can_change")), seed=SEED, draws=DRAWS)
    yield {"n": len(frame), **told("irrelevant", found["irrelevant"]), "gap": found["gap"].mean}


REACH = Layout(
    name="reach",
    title="Reach: decisions that no attention could change",
    caption=(
        "In how many test instances every attention, whatever it be, leads to the same decision: there, a heat-map is "
        "no reason. Exact, where the decoder is affine. gap: what remains open of the greatest probabilities, with "
        "more than two classes."
    ),
    columns=(
        number("n", "n", "Test instances."),
        *share("irrelevant", "no attention could", "Share of instances whose decision no attention could change."),
        Column("gap", "gap", "figure", 6, "Mean of how much a greatest probability may exceed what is reported."),
    ),
    rows=_reach_rows,
    needs=("reach",),
)


def _substitution_rows(source: Source) -> Iterable[Cells]:
    frame = source.results("substitution")
    for row in substitution_scores(frame, seed=SEED, draws=DRAWS).iter_rows(named=True):
        own = row["weights"] == "own"
        ends = {"": "", "_low": "_high", "_high": "_low"}  # the less agree, the more change
        changed = {f"changed{end}": None if own else _rest(row[f"agreement{other}"]) for end, other in ends.items()}
        yield {"n": len(frame), **row, **changed}


def _rest(share: float | None) -> float | None:
    return None if share is None else 1 - share


SUBSTITUTION = Layout(
    name="substitution",
    title="Substitution: scores with weights that are not the model's own",
    caption=(
        "At test time the weights are replaced by uniform ones, by a draw that is uniform over all distributions, or "
        "by the model's own in random order. Changes are those of the score against the model's own weights, with "
        "paired intervals."
    ),
    columns=(
        Column("weights", "weights", meaning="The model's own, or what they are replaced by."),
        number("n", "n", "Test instances."),
        *estimate("accuracy", "accuracy", "Share of right decisions.", digits=3),
        *estimate("accuracy_change", "change", "Accuracy less that with the own weights.", kind="signed", digits=3),
        *estimate("macro_f1", "macro F1", "Mean F1 of the classes.", digits=3),
        *estimate("macro_f1_change", "change", "Macro F1 less that with the own weights.", kind="signed", digits=3),
        *share("changed", "other decision", "Share of instances that are decided otherwise."),
    ),
    rows=_substitution_rows,
    needs=("substitution",),
)


def _truth_rows(source: Source) -> Iterable[Cells]:
    found = estimates(source.results("truth").select("mass", "share", "top"), seed=SEED, draws=DRAWS)
    told_all = {key: value for name in ("mass", "share", "top") for key, value in told(name, found[name]).items()}
    yield {"n": found["mass"].n, "undefined": found["mass"].undefined, **told_all}


TRUTH = Layout(
    name="truth",
    title="Truth: attention on the items that decide",
    caption=(
        "For corpora that know which items decide: how much of the attention lies on them, beside what uniform "
        "attention would put there, and how often the most attended item is one of them."
    ),
    columns=(
        number("n", "n", "Test instances in which some item is known to decide."),
        number("undefined", "unknown", "Test instances in which none is."),
        *share("mass", "attention", "Mean share of the attention on deciding items."),
        *share("share", "if uniform", "Mean share of the items that decide: what uniform attention would put there."),
        *share("top", "top decides", "Share of instances whose most attended item decides."),
    ),
    rows=_truth_rows,
    needs=("truth",),
)


def _violation_rows(source: Source) -> Iterable[Cells]:
    frame = source.results("violation")
    yield {"n": len(frame), **told("violates", estimates(frame.select("violates"), seed=SEED, draws=DRAWS)["violates"])}


VIOLATION = Layout(
    name="violation",
    title="Violation: the most attended item argues against the decision",
    caption=(
        "In how many test instances the most attended item alone would decide for another class. Of an audited model "
        "without scores: the decision is likelier when that item is deleted, which need not agree."
    ),
    columns=(
        number("n", "n", "Test instances."),
        *share("violates", "violates", "Share of instances whose most attended item argues against the decision."),
    ),
    rows=_violation_rows,
    needs=("violation",),
)
