"""How often the most attended item argues against the decision."""

from collections.abc import Iterable

from heedful.experiments import estimates
from heedful.report.tables.columns import number, share, told
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.source import Source


def _rows(source: Source) -> Iterable[Cells]:
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
    rows=_rows,
    needs=("violation",),
)
