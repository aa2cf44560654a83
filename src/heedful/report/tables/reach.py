"""Can any attention at all change the decision?"""

from collections.abc import Iterable

import polars as pl

from heedful.experiments import estimates
from heedful.report.tables.columns import number, share, told
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column


def _rows(source: Source) -> Iterable[Cells]:
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
    rows=_rows,
    needs=("reach",),
)
