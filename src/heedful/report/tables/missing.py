"""What is missing from the other tables, run by run; where all is there, nobody is told."""

from collections.abc import Iterable

from heedful.report.tables.layout import Cells, Layout
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column
from heedful.runs.naming import EXPERIMENT_NAMES


def _rows(source: Source) -> Iterable[Cells]:
    if not source.run.done("evidence"):
        yield {"open": "all, and the model itself", "impossible": ""}
        return
    lacking = [name for name in EXPERIMENT_NAMES if not source.run.done(name)]
    reasons = source.unsupported()
    open_ = ", ".join(name for name in lacking if name not in reasons)
    impossible = "; ".join(f"{name} {reasons[name]}" for name in lacking if name in reasons)
    if open_ or impossible:
        yield {"open": open_, "impossible": impossible}


MISSING = Layout(
    name="missing",
    title="What could not be told",
    caption=(
        "Experiments that were not performed: `heedful run` with the same options and --experiments with these names "
        "performs them, and repeats nothing; an audit performs all that it can. "
        "Where an experiment is not possible, its reason stands beside."
    ),
    columns=(
        Column("open", "not performed", meaning="Experiments of which there are no results yet."),
        Column(
            "impossible", "not possible", meaning="Experiments that need what this run does not have, and what that is."
        ),
    ),
    rows=_rows,
    needs=(),
)
