"""Does the highest weight matter more than another? The 2x2 table of Serrano & Smith 2019, section 4."""

from collections.abc import Iterable

from heedful.experiments import flip_table
from heedful.experiments.flip_table import SHARES
from heedful.report.tables.columns import number, share
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.rankings import ranking_name
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column

_TITLES = {
    "both": ("both", "Share in which removing either item changes the decision."),
    "top_only": ("first only", "Share in which only removing the item that ranks first does."),
    "rival_only": ("rival only", "Share in which only removing the rival does."),
    "neither": ("neither", "Share in which neither does."),
    "negative": ("rival more", "Share in which removing the rival moves the output more."),
}


def _rows(source: Source) -> Iterable[Cells]:
    for row in flip_table(source.results("single_weight"), seed=SEED, draws=DRAWS).iter_rows(named=True):
        yield {**row, "ranking": ranking_name(row["ranking"])}


FLIPS = Layout(
    name="serrano-smith-flips",
    title="Decisions changed by removing one item",
    caption=(
        "Serrano & Smith 2019, section 4: the item that ranks first by attention, gradient or both is removed, or "
        "another one, the rival. drawn: one rival an instance, drawn at random, as in the paper; expected: the exact "
        "mean over all rivals. Shares of the instances of several items."
    ),
    columns=(
        Column("ranking", "first by", meaning="The ranking whose first item is removed."),
        Column("rival", "rival", meaning="drawn: one at random; expected: over all."),
        number("n", "n", "Instances of several items."),
        *(column for name in SHARES for column in share(name, *_TITLES[name])),
    ),
    rows=_rows,
    needs=("single_weight",),
)
