"""What a sweep tells while it works; silent by default, the command line shows a table."""

from collections.abc import Mapping, Sequence

from heedful.runs.cells import Cell
from heedful.runs.status import Status


class Watcher:
    """Receives what happens in a sweep; override what should be shown."""

    def begin(self, cells: Sequence[Cell], workers: int) -> None:
        """Everything is checked, and so many cells are worked on at a time."""

    def started(self, cell: Cell) -> None:
        """A cell is begun."""

    def ended(self, cell: Cell) -> None:
        """A cell is done, has failed, or waits for another attempt (`state`, `reason`)."""

    def look(self, running: Mapping[str, Status]) -> None:
        """How far the running cells are, by name; several times a second."""
