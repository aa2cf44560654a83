"""A sweep in the terminal: the plan, a live table of running cells (one line per event elsewhere), and the outcome."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from heedful.printable import printable
from heedful.progress import seconds_since
from heedful.sweeps.cells import Cell, Status, log_file, time_left
from heedful.sweeps.sweep import Watcher

SILENCE = 20.0  # seconds without a line, at most, where there is no live display
STATES = {"done": "done", "waiting": "to do", "running": "not finished", "failed": "failed", "absent": "corpus missing"}


def print_plan(cells: Sequence[Cell], out: Path, console: Console) -> None:
    """The cells, their states, and the expected cost of the rest."""
    table = Table(box=None, pad_edge=False)
    for column in ("cell", "state", "about"):
        table.add_column(column, no_wrap=column == "cell", justify="right" if column == "about" else "left")
    for cell in cells:
        cost = "" if cell.state != "waiting" else "unknown" if cell.cost is None else duration(cell.cost)
        table.add_row(Text(cell.name), STATES[cell.state], cost)
    console.print(table)
    _reasons(cells, out, console)
    todo = [cell for cell in cells if cell.state == "waiting"]
    known = [cell.cost for cell in todo if cell.cost is not None]
    cost = f"about {duration(sum(known))} on one worker" if known else "cost unknown: no similar run here"
    if known and len(known) < len(todo):
        cost += f" for {len(known)} of them, the rest unknown"
    todo_words = f"to do: {len(todo)} cells, {cost}" if todo else "nothing to do"
    _say(console, f"{count_states(cells)}\n{todo_words}\nfree disk space: {_free(out) / 1e9:,.1f} GB")


def print_outcome(cells: Sequence[Cell], out: Path, console: Console) -> None:
    """The states of the cells, and why some are not done."""
    _reasons(cells, out, console)
    _say(console, f"{count_states(cells)}; runs are in {out}")
    if any(cell.state == "done" for cell in cells):
        _say(console, f"next: heedful report {out}")


def count_states(cells: Sequence[Cell]) -> str:
    """How many cells are in which state."""
    counts = Counter(STATES[cell.state] for cell in cells)
    return f"{len(cells)} cells: " + ", ".join(f"{counts[state]} {state}" for state in STATES.values() if counts[state])


def duration(seconds: float) -> str:
    """Seconds as text.

    >>> duration(5), duration(125), duration(7320)
    ('5 s', '2 min 5 s', '2 h 2 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _reasons(cells: Sequence[Cell], out: Path, console: Console) -> None:
    """Each reason once, with the cells it is about; failures come with their logs."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.reason and cell.state != "done":
            groups.setdefault((STATES[cell.state], cell.reason), []).append(cell)
    for (state, reason), group in groups.items():
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        log = log_file(out, group[0].name)
        where = f" (log: {log})" if group[0].attempts and log.exists() else ""
        _say(console, f"{state}: {group[0].name}{more}: {printable(' '.join(reason.split()))}{where}")


def _free(out: Path) -> int:
    there = next(place for place in (out.resolve(), *out.resolve().parents) if place.exists())
    return shutil.disk_usage(there).free


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)


class ConsoleWatcher(Watcher):
    """Prints events; draws the table of running cells if there is a live display."""

    def __init__(self, console: Console, live: Live | None = None) -> None:
        self.cells: Sequence[Cell] = ()
        self._console, self._live = console, live
        self._workers = 0
        self._started: dict[str, float] = {}
        self._said = time.monotonic()

    def begin(self, cells: Sequence[Cell], workers: int) -> None:
        """What there is to do."""
        self.cells, self._workers = cells, workers
        at_a_time = f"; {workers} at a time" if workers else ""
        _say(self._console, f"{count_states(cells)}{at_a_time}")

    def started(self, cell: Cell) -> None:
        """A line, unless the table shows it."""
        self._started[cell.name] = time.monotonic()
        if self._live is None:
            self._line(f"started   {cell.name}" + (f" (attempt {cell.attempts})" if cell.attempts > 1 else ""))

    def ended(self, cell: Cell) -> None:
        """A line."""
        del self._started[cell.name]
        reason = f": {printable(' '.join(cell.reason.split()))}" if cell.reason else ""
        word = "again" if cell.state == "waiting" else cell.state
        done = sum(each.state not in ("waiting", "running") for each in self.cells)
        self._line(f"{word:<9} {cell.name} ({cell.seconds:.1f} s, {done}/{len(self.cells)}){reason}")

    def look(self, running: Mapping[str, Status]) -> None:
        """Draw the table; without a live display, say something if nothing was said for some time."""
        now = time.monotonic()
        if self._live is not None:
            elapsed = {name: seconds_since(self._started[name]) for name in running}
            self._live.update(running_table(self.cells, running, elapsed, self._workers))
        elif now - self._said >= SILENCE:
            self._line(count_states(self.cells))
            for name, status in running.items():
                steps = f" {_steps(status)}" if status.steps else ""
                self._line(f"running   {name}: {printable(status.task)}{steps}, {duration(now - self._started[name])}")

    def _line(self, text: str) -> None:
        self._said = time.monotonic()
        _say(self._console, text)


def running_table(
    cells: Sequence[Cell], running: Mapping[str, Status], elapsed: Mapping[str, float], workers: int
) -> Group:
    """The running cells, how many are finished, and how long the rest may take."""
    table = Table(box=None, pad_edge=False)
    for column in ("cell", "stage", "steps", "", "left", "time"):
        number = column in ("steps", "left", "time")
        table.add_column(column, no_wrap=number or column == "cell", justify="right" if number else "left")
    for name, status in running.items():
        steps = _steps(status) if status.steps else ""
        left = "" if status.left is None else duration(status.left)
        texts = (name, status.task, steps, status.note, left, duration(elapsed[name]))
        table.add_row(*(Text(printable(text)) for text in texts))
    left_in_all = time_left(cells, workers, elapsed)
    about = "time left unknown yet" if left_in_all is None else f"about {duration(left_in_all)} left"
    return Group(table, Text(f"{count_states(cells)}; {about}"))


def _steps(status: Status) -> str:
    return f"{status.steps:,}" + (f"/{status.total:,}" if status.total else "")


@contextmanager
def watching(notices: Console) -> Iterator[ConsoleWatcher]:
    """A watcher for as long as the block lasts."""
    if not notices.is_terminal:
        yield ConsoleWatcher(notices)
        return
    with Live(console=notices, transient=True, refresh_per_second=4) as live:
        yield ConsoleWatcher(notices, live)
