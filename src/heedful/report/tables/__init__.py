"""The tables of a report: our figures, with published ones beside them where there are any."""

from collections.abc import Callable, Sequence

from heedful.report.tables.exact import ERASURE, REACH, SUBSTITUTION, TRUTH, VIOLATION
from heedful.report.tables.jain_wallace import ADVERSARY, PERMUTATION, TABLE_1, TABLE_2
from heedful.report.tables.layout import MISSING, Layout, fill
from heedful.report.tables.serrano_smith import CLAIMS, FLIPS, RANKINGS, WINS
from heedful.report.tables.table import Column, Table
from heedful.runs.directory import Run

__all__ = ["TABLES", "Column", "Table", "tables"]

_LAYOUTS: tuple[Layout, ...] = (
    *(TABLE_1, TABLE_2, PERMUTATION, ADVERSARY),  # Jain & Wallace
    *(CLAIMS, FLIPS, RANKINGS, WINS),  # Serrano & Smith
    *(REACH, SUBSTITUTION, VIOLATION, TRUTH, ERASURE),
    MISSING,
)

# every table by its name, in the order of presentation
TABLES: dict[str, Callable[[Sequence[Run]], Table]] = {layout.name: layout for layout in _LAYOUTS}


def tables(runs: Sequence[Run]) -> list[Table]:
    """All tables of runs that have rows; the last one, `missing`, lists what the runs lack."""
    return [table for table in fill(_LAYOUTS, runs) if table.rows]
