"""What `heedful sweep` prints before (`--dry-run`) and after."""

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heedful.printable import printable
from heedful.runs.cells import Cell
from heedful.runs.status import log_file

STATES = {"done": "done", "waiting": "to do", "running": "not finished", "failed": "failed", "absent": "not at hand"}


def planned(cells: Sequence[Cell], out: Path, console: Console) -> None:
    """The cells, what is done, what the rest is likely to cost."""
    table = Table(box=None, pad_edge=False)
    for column in ("cell", "state", "about"):
        table.add_column(column, overflow="fold", justify="right" if column == "about" else "left")
    for cell in cells:
        cost = "" if cell.state != "waiting" else "unknown" if cell.cost is None else duration(cell.cost)
        table.add_row(Text(cell.name), STATES[cell.state], cost)
    console.print(table)
    _reasons(cells, out, console)
    todo = [cell for cell in cells if cell.state == "waiting"]
    known = [cell.cost for cell in todo if cell.cost is not None]
    cost = f"about {duration(sum(known))} on one worker" if known else "cost unknown: no run of these kinds is here"
    if known and len(known) < len(todo):
        cost += f" for {len(known)} of them, the rest unknown"
    told = f"to do: {len(todo)} cells, {cost}" if todo else "nothing to do"
    _say(console, f"{counted(cells)}\n{told}\nfree disk space: {_free(out) / 1e9:,.1f} GB")


def summed_up(cells: Sequence[Cell], out: Path, console: Console) -> None:
    """What became of the cells, and why some are not done."""
    _reasons(cells, out, console)
    _say(console, f"{counted(cells)}; runs are in {out}")
    if any(cell.state == "done" for cell in cells):
        _say(console, f"next: heedful report {out}")


def counted(cells: Sequence[Cell]) -> str:
    """How many cells are in which state."""
    counts = Counter(STATES[cell.state] for cell in cells)
    return f"{len(cells)} cells: " + ", ".join(f"{counts[state]} {state}" for state in STATES.values() if counts[state])


def duration(seconds: float) -> str:
    """A time to read.

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
