"""A sweep while it works: one live table in a terminal, one line an event elsewhere."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from heedful.cli.console import notices
from heedful.cli.sweep_tables import counted, duration
from heedful.printable import printable
from heedful.runs.cells import Cell, time_left
from heedful.runs.status import Status
from heedful.runs.watching import Watcher


class ConsoleWatcher(Watcher):
    """Prints events; draws the table of running cells if there is a live display."""

    def __init__(self, console: Console, live: Live | None = None) -> None:
        self.cells: Sequence[Cell] = ()
        self._console, self._live = console, live
        self._workers = 0
        self._started: dict[str, float] = {}

    def begin(self, cells: Sequence[Cell], workers: int) -> None:
        """What there is to do."""
        self.cells, self._workers = cells, workers
        at_a_time = f"; {workers} at a time" if workers else ""
        self._say(f"{counted(cells)}{at_a_time}")

    def started(self, cell: Cell) -> None:
        """A line, unless the table shows it."""
        self._started[cell.name] = time.monotonic()
        if self._live is None:
            self._say(f"started   {cell.name}" + (f" (attempt {cell.attempts})" if cell.attempts > 1 else ""))

    def ended(self, cell: Cell) -> None:
        """A line."""
        del self._started[cell.name]
        reason = f": {printable(' '.join(cell.reason.split()))}" if cell.reason else ""
        word = "again" if cell.state == "waiting" else cell.state
        done = sum(each.state not in ("waiting", "running") for each in self.cells)
        self._say(f"{word:<9} {cell.name} ({cell.seconds:.1f} s, {done}/{len(self.cells)}){reason}")

    def look(self, running: Mapping[str, Status]) -> None:
        """Draw the table."""
        if self._live is not None:
            now = time.monotonic()
            elapsed = {name: now - self._started[name] for name in running}
            self._live.update(running_table(self.cells, running, elapsed, self._workers))

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)


def running_table(
    cells: Sequence[Cell], running: Mapping[str, Status], elapsed: Mapping[str, float], workers: int
) -> Group:
    """The running cells, how many are finished, and how long the rest may take."""
    table = Table(box=None, pad_edge=False)
    for column in ("cell", "stage", "steps", "", "left", "time"):
        table.add_column(column, no_wrap=True, justify="right" if column in ("steps", "left", "time") else "left")
    for name, status in running.items():
        steps = "" if not status.steps else f"{status.steps:,}" + (f"/{status.total:,}" if status.total else "")
        left = "" if status.left is None else duration(status.left)
        texts = (name, status.task, steps, status.note, left, duration(elapsed[name]))
        table.add_row(*(Text(printable(text)) for text in texts))
    left_in_all = time_left(cells, workers, elapsed)
    about = "time left unknown yet" if left_in_all is None else f"about {duration(left_in_all)} left"
    return Group(table, Text(f"{counted(cells)}; {about}"))


@contextmanager
def watching() -> Iterator[ConsoleWatcher]:
    """A watcher for as long as the block lasts."""
    if not notices.is_terminal:
        yield ConsoleWatcher(notices)
        return
    with Live(console=notices, transient=True, refresh_per_second=4) as live:
        yield ConsoleWatcher(notices, live)
