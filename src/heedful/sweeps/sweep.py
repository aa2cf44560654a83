"""A sweep: all runs of a grid, several at a time. Failures do not stop the rest; finished runs are not repeated."""

import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from heedful.corpora.registry import READERS
from heedful.engines import Engine, open_engine
from heedful.engines.task import Outcome, Task
from heedful.errors import BadConfig, HeedfulError
from heedful.files import not_linked
from heedful.privacy import owner_only
from heedful.progress import seconds_since
from heedful.runs.config import RunConfig
from heedful.runs.directory import Run
from heedful.sweeps.cells import FOLDER, Cell, Status, StatusReporter, read_status, status_file, survey
from heedful.sweeps.grid import Grid, read_grid

_LOOK = 0.25  # seconds between two looks at the running cells


def cell_task(
    config: RunConfig,
    *,
    out: Path,
    data: Path | str | None,
    experiments: Sequence[str] | None,
    private: bool = False,
) -> Task:
    """The task of a cell."""
    arguments = {
        "name": config.name,
        "values": config.model_dump(mode="json", exclude_none=True),
        "out": str(out.resolve()),
        "data": None if data is None else str(Path(data).resolve()),
        "experiments": None if experiments is None else list(experiments),
        "private": private or READERS[config.corpus].restricted,
    }
    return Task(config.name, "heedful.sweeps.sweep:perform_cell", arguments, config.threads)


def perform_cell(
    *, name: str, values: dict[str, Any], out: str, data: str | None, experiments: list[str] | None, private: bool
) -> None:
    """Perform what is missing of a run: the task of a cell. Logs may quote texts and are as private as these."""
    with owner_only(private):
        _perform_cell(
            StatusReporter(Path(out), name), values, out=out, data=data, experiments=experiments, private=private
        )


def _perform_cell(reporter: StatusReporter, values: dict[str, Any], **options: Any) -> None:
    reporter.log("begun")
    reporter.start("loading libraries")
    from heedful.runs.execution import perform

    try:
        perform(values, reporter=reporter, **options)
    except HeedfulError as error:
        reporter.log(f"failed: {error}")
        raise
    except Exception:
        reporter.log(traceback.format_exc())
        raise
    except KeyboardInterrupt:
        reporter.log("stopped")
        raise
    reporter.log("done")


class Watcher:
    """Receives the events of a sweep; override the methods whose events you want to show."""

    def begin(self, cells: Sequence[Cell], workers: int) -> None:
        """All cells are checked; `workers` of them run at a time."""

    def started(self, cell: Cell) -> None:
        """A cell has started."""

    def ended(self, cell: Cell) -> None:
        """A cell is done, has failed, or waits for a retry (`state`, `reason`)."""

    def look(self, running: Mapping[str, Status]) -> None:
        """The status of the running cells by name; called several times a second."""


@dataclass(frozen=True)
class Sweep:
    """The outcome of a sweep."""

    cells: tuple[Cell, ...]

    @property
    def complete(self) -> bool:
        """Whether every cell is done."""
        return all(cell.state == "done" for cell in self.cells)

    @property
    def runs(self) -> list[Run]:
        """The runs that are done."""
        return [cell.run for cell in self.cells if cell.state == "done"]


def sweep(
    grid: Mapping[str, Any] | Path | str | Grid,
    *,
    on: str = "local",
    workers: int | None = None,
    out: Path | str = "runs",
    data: Path | str | None = None,
    address: str | None = None,
    retries: int = 1,
    private: bool = False,
    watcher: Watcher | None = None,
) -> Sweep:
    """Perform every run of a grid: a TOML file, the name of a built-in one, or the values of such a file.

    `on`: "local" or "ray" (`address`: that of a running cluster). `retries`: further attempts for cells that crash.
    `private`: only you can read the runs, as with restricted corpora.
    Cells that fail are returned with the reason. The same call resumes an interrupted sweep.
    """
    if retries < 0:
        raise BadConfig(f"retries = {retries}: must be 0 or more")
    watcher, out = watcher or Watcher(), Path(out)
    grid = grid if isinstance(grid, Grid) else read_grid(grid)
    cells = survey(grid, out, data)
    waiting = [cell for cell in cells if cell.state == "waiting"]
    if waiting:
        threads = max(cell.config.threads for cell in waiting)
        engine = open_engine(on, workers=workers, threads=threads, address=address, log=out / FOLDER / "workers.log")
        with engine, _terminable():
            not_linked(out / FOLDER).mkdir(parents=True, exist_ok=True)
            watcher.begin(cells, engine.workers)
            task_of = partial(cell_task, out=out, data=data, experiments=grid.experiments, private=private)
            work(engine, waiting, task_of, out=out, retries=retries, watcher=watcher)
    else:
        watcher.begin(cells, 0)
    return Sweep(tuple(cells))


def work(
    engine: Engine,
    cells: Sequence[Cell],
    task_of: Callable[[RunConfig], Task],
    *,
    out: Path,
    retries: int = 1,
    watcher: Watcher,
) -> None:
    """Keep an engine busy until every cell is done or has failed for good."""
    waiting = deque(cells)
    running: dict[str, tuple[Cell, float]] = {}
    while waiting or running:
        while waiting and engine.free:
            cell = waiting.popleft()
            cell.state, cell.attempts = "running", cell.attempts + 1
            running[cell.name] = cell, time.monotonic()
            engine.start(task_of(cell.config))
            watcher.started(cell)
        for task, outcome in engine.wait(_LOOK):
            cell, started = running.pop(task.name)
            cell.seconds += seconds_since(started)
            _settle(cell, outcome, retries)
            if cell.state == "waiting":
                waiting.append(cell)
            with suppress(OSError):
                status_file(out, cell.name).unlink(missing_ok=True)
            watcher.ended(cell)
        watcher.look({name: read_status(out, name) for name in running})


def _settle(cell: Cell, outcome: Outcome, retries: int) -> None:
    """Set the state of a cell after an attempt: crashes are retried, errors that would recur are not."""
    cell.reason, cell.disk_full = outcome.reason, outcome.disk_full
    if outcome.state == "done":
        cell.state = "done"
    elif outcome.state == "failed" or cell.attempts > retries:
        cell.state = "failed"
        if cell.attempts > 1:
            cell.reason += f" ({cell.attempts} attempts)"
    else:
        cell.state = "waiting"


@contextmanager
def _terminable() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C inside the block, so that workers are stopped and nothing is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
