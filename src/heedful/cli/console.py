"""Shared by the commands: consoles, progress bars, and --set options."""

import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

from heedful.errors import BadConfig, Stopped
from heedful.progress import Reporter, seconds_since

LONG = 2.0  # seconds of a task that leaves a line where progress is brief
SILENCE = 20.0  # seconds without a line, at most, where there are no bars

console = Console(highlight=False)
notices = Console(stderr=True, highlight=False)  # keeps progress out of standard output


class BarReporter(Reporter):
    """A progress bar on standard error for the current task, and one line when it is done.

    `brief`: only tasks of LONG seconds or more leave a line. Without a terminal there are no bars; a line now and then
    tells that the task goes on.
    """

    def __init__(self, progress: Progress, *, brief: bool = False) -> None:
        self._progress, self._brief = progress, brief
        self._task: TaskID | None = None
        self._name = self._note = ""
        self._steps, self._total = 0, None  # type: int, int | None
        self._started = self._said = time.monotonic()

    def start(self, task: str, total: int | None = None) -> None:
        """Show a bar."""
        self._name, self._note, self._steps, self._total = task, "", 0, total
        self._started = time.monotonic()
        self._task = self._progress.add_task(task, total=total, note="")

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        """Move the bar."""
        self._steps, self._note, self._total = steps, note, self._total if total is None else total
        if self._task is not None:
            self._progress.update(self._task, completed=steps, note=note, total=total)

    def finish(self, summary: str = "") -> None:
        """Replace the bar by a line."""
        if self._task is not None:
            self._progress.remove_task(self._task)
            self._task = None
        if not self._brief or seconds_since(self._started) >= LONG:
            self._say(f"{self._name}: {summary}")

    def notice(self, text: str) -> None:
        """A line that is printed in any case."""
        self._progress.console.print(text, markup=False, soft_wrap=True)

    def say_if_silent(self, since: float) -> None:
        """Say how far the current task is if nothing was said for so many seconds."""
        if self._task is None or seconds_since(self._said) < since:
            return
        steps = f"{self._steps:,}" if self._total is None else f"{self._steps:,} of {self._total:,}"
        known = [steps] if self._steps else []
        self._say(f"{self._name}: {', '.join([*known, *([self._note] if self._note else [])]) or 'working'} ...")

    def _say(self, text: str) -> None:
        self._said = time.monotonic()
        line = f"{seconds_since(self._started):6.1f} s  {text}"
        self._progress.console.print(line, markup=False, soft_wrap=True)


@contextmanager
def bars(stopped: str = "the same command resumes it", *, brief: bool = False) -> Iterator[BarReporter]:
    """A reporter that draws progress bars during the block; `stopped` is said after Ctrl-C."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=notices, transient=True, disable=not notices.is_terminal) as progress:
        reporter = BarReporter(progress, brief=brief)
        try:
            with nullcontext() if notices.is_terminal else _never_silent(reporter):
                yield reporter
        except KeyboardInterrupt:
            raise Stopped(f"stopped; {stopped}") from None


@contextmanager
def _never_silent(reporter: BarReporter) -> Iterator[None]:
    """Let the reporter say something every SILENCE seconds during the block, whatever the task is doing."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(SILENCE / 20):
            reporter.say_if_silent(SILENCE * 0.9)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


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
