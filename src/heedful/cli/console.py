"""Shared by the commands: consoles, progress bars, and --set options."""

import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

from heedful.errors import BadConfig, Stopped
from heedful.progress import Reporter, seconds_since

console = Console(highlight=False)
notices = Console(stderr=True, highlight=False)  # keeps progress out of standard output


class BarReporter(Reporter):
    """A progress bar on standard error for the current task, and one line when it is done."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._name = ""
        self._started = 0.0

    def start(self, task: str, total: int | None = None) -> None:
        """Show a bar."""
        self._name, self._started = task, time.monotonic()
        self._task = self._progress.add_task(task, total=total, note="")

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.update(self._task, completed=steps, note=note, total=total)

    def finish(self, summary: str = "") -> None:
        """Replace the bar by a line."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        line = f"{seconds_since(self._started):6.1f} s  {self._name}: {summary}"
        self._progress.console.print(line, markup=False, soft_wrap=True)


@contextmanager
def bars(stopped: str = "the same command resumes it") -> Iterator[BarReporter]:
    """A reporter that draws progress bars during the block; `stopped` is said after Ctrl-C."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=notices, transient=True, disable=not notices.is_terminal) as progress:
        try:
            yield BarReporter(progress)
        except KeyboardInterrupt:
            raise Stopped(f"stopped; {stopped}") from None


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """Nested values from `training.epochs=3` and the like; anything that is not a TOML value is text."""
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise BadConfig(f"--set {setting}: write it as key=value, e.g. --set training.epochs=3")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        *tables, name = key.split(".")
        place = values
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise BadConfig(f"--set {setting}: '{table}' is already set to a value")
        place[name] = value
    return values
