"""How far a cell of a sweep is: a small file that is replaced again and again, and a log that grows.

Files serve every engine alike: workers may be other processes or other machines, as long as they share a directory.
"""

import contextlib
import json
import os
import time
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from heedful.printable import printable
from heedful.runs.reporter import Reporter

FOLDER = ".sweep"  # in the folder of run directories
_PAUSE = 0.25  # seconds between two writings, at least


class Status(NamedTuple):
    """What a cell is doing."""

    task: str = ""
    steps: int = 0
    total: int | None = None
    note: str = ""
    left: float | None = None  # seconds of the task, if that can be told


class StatusReporter(Reporter):
    """Writes a cell's status and log; whether that succeeds is of no consequence for the cell."""

    def __init__(self, out: Path, cell: str) -> None:
        self._file, self._log = status_file(out, cell), log_file(out, cell)
        self._status = Status()
        self._first: int | None = None  # the first steps reached: a resumed task does not begin at none
        self._started = self._first_time = self._written = 0.0
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)

    def log(self, text: str) -> None:
        """Add lines to the log, each with the time."""
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        with contextlib.suppress(OSError), self._log.open("a", encoding="utf-8") as file:
            file.writelines(f"{now} {printable(line)}\n" for line in text.splitlines())

    def start(self, task: str, total: int | None = None) -> None:
        """A new task."""
        self._status, self._first = Status(task, total=total), None
        self._started = time.monotonic()
        self._write()

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        """Write now and then."""
        now = time.monotonic()
        if self._first is None:
            self._first, self._first_time = steps, now
        if now - self._written >= _PAUSE:
            total = self._status.total if total is None else total
            self._status = Status(self._status.task, steps, total, note, self._left(steps, total, now))
            self._write()

    def finish(self, summary: str = "") -> None:
        """A line for the log."""
        self.log(f"{self._status.task}: {summary} ({time.monotonic() - self._started:.1f} s)")

    def _left(self, steps: int, total: int | None, now: float) -> float | None:
        if total is None or self._first is None or steps <= self._first:
            return None
        return (now - self._first_time) / (steps - self._first) * (total - steps)

    def _write(self) -> None:
        self._written = time.monotonic()
        temporary = self._file.with_suffix(f".{os.getpid()}.tmp")
        with contextlib.suppress(OSError):  # no fsync: the next one comes soon
            temporary.write_text(json.dumps(self._status._asdict()), encoding="utf-8")
            temporary.replace(self._file)


def status_file(out: Path, cell: str) -> Path:
    """Where a cell's status is."""
    return out / FOLDER / f"{cell}.json"


def log_file(out: Path, cell: str) -> Path:
    """Where a cell's log is."""
    return out / FOLDER / f"{cell}.log"


def read_status(out: Path, cell: str) -> Status:
    """What a cell was doing when it last wrote."""
    try:
        return Status(**json.loads(status_file(out, cell).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # not written yet
        return Status()
