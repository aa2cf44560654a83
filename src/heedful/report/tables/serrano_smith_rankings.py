"""How many items must go before the decision changes, by the order they go in: Serrano & Smith 2019, section 5."""

from collections.abc import Iterable

from heedful.experiments import removal_scores
from heedful.report.tables.columns import estimate, number, share
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.rankings import ranking_name
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column


def _rows(source: Source) -> Iterable[Cells]:
    for row in removal_scores(source.results("removal"), seed=SEED, draws=DRAWS).iter_rows(named=True):
        never = row["never"] / row["n"] if row["n"] else None
        yield {**row, "ranking": ranking_name(row["ranking"]), "never": never}


RANKINGS = Layout(
    name="serrano-smith-rankings",
    title="Share of items and of attention removed until the decision changes",
    caption=(
        "Serrano & Smith 2019, section 5: items are removed in the order of a ranking until the decision changes. The "
        "paper leaves out decisions that never change; in the columns `or all` they count as everything removed. The "
        "smallest set of items that changes the decision (optimal) is exact, and known where the decoder is affine; "
        "extra and best compare with it. Random is the mean over its orders."
    ),
    columns=(
        Column("ranking", "ranking", meaning="In whose order items are removed."),
        number("n", "n", "Instances of several items."),
        Column("never", "never", "percent", 1, "Share of instances whose decision no removal in this order changes."),
        *estimate("fraction", "items", "Share of the items removed where the decision changes.", std=True),
        *estimate("fraction_all", "or all", "The same with all items where it never changes."),
        *estimate("mass", "attention", "Share of the attention on the removed items, where it changes.", std=True),
        *estimate("mass_all", "or all", "The same with all attention where it never changes."),
        *estimate("excess", "extra", "Items removed beyond the smallest set that changes the decision.", digits=1),
        *share("optimal", "best", "How often there are none beyond it."),
    ),
    rows=_rows,
    needs=("removal",),
)
