"""How well the models decide with weights that are not their own."""

from collections.abc import Iterable

from heedful.experiments import substitution_scores
from heedful.report.tables.columns import estimate, number, share
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column


def _rows(source: Source) -> Iterable[Cells]:
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
    rows=_rows,
    needs=("substitution",),
)
