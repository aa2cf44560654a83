"""The tables of a report: our figures, with the published ones beside them where those exist."""

from collections.abc import Callable, Sequence

from heedful.report.tables.adversary import ADVERSARY
from heedful.report.tables.claims import CLAIMS
from heedful.report.tables.erasure import ERASURE
from heedful.report.tables.jain_wallace_table_1 import TABLE_1
from heedful.report.tables.jain_wallace_table_2 import TABLE_2
from heedful.report.tables.layout import Layout, fill
from heedful.report.tables.missing import MISSING
from heedful.report.tables.permutation import PERMUTATION
from heedful.report.tables.reach import REACH
from heedful.report.tables.serrano_smith_flips import FLIPS
from heedful.report.tables.serrano_smith_rankings import RANKINGS
from heedful.report.tables.serrano_smith_wins import WINS
from heedful.report.tables.substitution import SUBSTITUTION
from heedful.report.tables.table import Column, Table
from heedful.report.tables.truth import TRUTH
from heedful.report.tables.violation import VIOLATION
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
    """All tables of runs but those without a row; what these lack is told by the last one, `missing`."""
    return [table for table in fill(_LAYOUTS, runs) if table.rows]
