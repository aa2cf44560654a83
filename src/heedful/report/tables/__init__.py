"""The tables of a report: ours, with the published figures beside them where those exist."""

from collections.abc import Callable, Sequence

from heedful.report.tables.layout import Layout, fill
from heedful.report.tables.table import Column, Table
from heedful.report.tables.violation import VIOLATION
from heedful.runs.directory import Run

__all__ = ["TABLES", "Column", "Table", "tables"]

_LAYOUTS: tuple[Layout, ...] = (VIOLATION,)

# every table by its name, in the order of presentation
TABLES: dict[str, Callable[[Sequence[Run]], Table]] = {layout.name: layout for layout in _LAYOUTS}


def tables(runs: Sequence[Run]) -> list[Table]:
    """All tables of runs but those that would have no row."""
    return [table for table in fill(_LAYOUTS, runs) if table.rows]
