"""How soon decisions change when items are erased from the text, by the order they go in."""

from collections.abc import Iterable

from heedful.experiments import erasure_scores
from heedful.report.tables.columns import estimate, number, share
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.rankings import ranking_name
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column

_WAYS = {"delete": "deleted", "unknown": "unknown", "blank": "blank"}


def _rows(source: Source) -> Iterable[Cells]:
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
    rows=_rows,
    needs=("erasure",),
)
