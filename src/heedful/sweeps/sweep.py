"""A sweep: all runs of a grid, several at a time; what fails does not stop the rest, what is done is not done again."""

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

from heedful.engines import Engine, open_engine
from heedful.engines.task import Outcome, Task
from heedful.errors import BadConfig, HeedfulError
from heedful.runs.config import RunConfig
from heedful.runs.directory import Run
from heedful.sweeps.cells import FOLDER, Cell, Status, StatusReporter, read_status, status_file, survey
from heedful.sweeps.grid import Grid, read_grid


def cell_task(config: RunConfig, *, out: Path, data: Path | str | None, experiments: Sequence[str] | None) -> Task:
    """The task of a cell."""
    arguments = {
        "name": config.name,
        "values": config.model_dump(mode="json", exclude_none=True),
        "out": str(out.resolve()),
        "data": None if data is None else str(Path(data).resolve()),
        "experiments": None if experiments is None else list(experiments),
    }
    return Task(config.name, "heedful.sweeps.sweep:perform_cell", arguments, config.threads)


def perform_cell(
    *, name: str, values: dict[str, Any], out: str, data: str | None, experiments: list[str] | None
) -> None:
    """Perform what is missing of a run."""
    reporter = StatusReporter(Path(out), name)
    reporter.log("begun")
    reporter.start("loading libraries")
    from heedful.runs.execution import perform

    try:
        perform(values, out=out, data=data, experiments=experiments, reporter=reporter)
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
    """Receives what happens in a sweep; override what should be shown."""

    def begin(self, cells: Sequence[Cell], workers: int) -> None:
        """Everything is checked, and so many cells are worked on at a time."""

    def started(self, cell: Cell) -> None:
        """A cell is begun."""

    def ended(self, cell: Cell) -> None:
        """A cell is done, has failed, or waits for another attempt (`state`, `reason`)."""

    def look(self, running: Mapping[str, Status]) -> None:
        """How far the running cells are, by name; several times a second."""


_LOOK = 0.25  # seconds between two looks at what the cells are doing


@dataclass(frozen=True)
class Sweep:
    """What became of a grid."""

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
    watcher: Watcher | None = None,
) -> Sweep:
    """Do every run of a grid: a TOML file, the name of a built-in one, or values as such a file has them.

    `on` is "local" or "ray" (`address`: of a running cluster). Cells that crash are tried again so many times;
    those that cannot be done are told in the answer, with the reason. Interrupted, it goes on where it was when called
    again.
    """
    if retries < 0:
        raise BadConfig(f"retries = {retries}: none is the least")
    watcher, out = watcher or Watcher(), Path(out)
    grid = grid if isinstance(grid, Grid) else read_grid(grid)
    cells = survey(grid, out, data)
    waiting = [cell for cell in cells if cell.state == "waiting"]
    if waiting:
        threads = max(cell.config.threads for cell in waiting)
        engine = open_engine(on, workers=workers, threads=threads, address=address, log=out / FOLDER / "workers.log")
        with engine, _terminable():
            (out / FOLDER).mkdir(parents=True, exist_ok=True)
            watcher.begin(cells, engine.workers)
            task_of = partial(cell_task, out=out, data=data, experiments=grid.experiments)
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
            cell.seconds += time.monotonic() - started
            _settle(cell, outcome, retries)
            if cell.state == "waiting":
                waiting.append(cell)
            with suppress(OSError):
                status_file(out, cell.name).unlink(missing_ok=True)
            watcher.ended(cell)
        watcher.look({name: read_status(out, name) for name in running})


def _settle(cell: Cell, outcome: Outcome, retries: int) -> None:
    """What an outcome means for a cell: some reasons go away by another attempt, others do not."""
    cell.reason = outcome.reason
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
    """Let SIGTERM be what Ctrl-C is, for as long as the block lasts: workers are stopped, nothing is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
