"""The cells of a sweep: which are done, which cannot be done, what is left, and how long that takes."""

import contextlib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from heedful.errors import HeedfulError, NotFound
from heedful.evidence import scan
from heedful.files import open_log
from heedful.printable import printable
from heedful.progress import Reporter, seconds_since
from heedful.runs.config import RunConfig
from heedful.runs.directory import Run
from heedful.runs.experiment_stages import DEFAULT, choose_experiments
from heedful.runs.sources import Sources
from heedful.sweeps.grid import Grid
from heedful.temporaries import temporary_file

_Kind = tuple[str, str, str, bool]


class Costs:
    """Seconds that stages took in earlier runs, by kind of run."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._seconds: dict[_Kind, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            for stage, cost in run.manifest["stages"].items():
                self._seconds[_kind(run.config)][stage].append(cost["seconds"])

    def of(self, config: RunConfig, stages: Sequence[str]) -> float | None:
        """Estimated seconds of stages; None if no run of this kind has been trained."""
        known = self._seconds.get(_kind(config), {})
        if "train" not in known:
            return None
        # a stage that no run of this kind has performed is one that its corpus does not support
        return sum(sum(known[stage]) / len(known[stage]) for stage in stages if stage in known)


def _kind(config: RunConfig) -> _Kind:
    return config.corpus, config.model, config.encoder, config.subset


def _runs(out: Path) -> Iterable[Run]:
    for file in sorted(out.glob("*/manifest.json")):
        try:
            run = Run.open(file.parent)
            _ = run.manifest
        except HeedfulError:  # damaged, or of another version
            continue
        yield run


State = Literal["waiting", "running", "done", "failed", "absent"]  # absent: its corpus is not available


@dataclass
class Cell:
    """A run of a sweep."""

    config: RunConfig
    folder: Path
    state: State = "waiting"
    reason: str = ""  # why it failed or is absent
    disk_full: bool = False  # that is why it failed
    seconds: float = 0.0  # in this sweep, over all attempts
    attempts: int = 0
    missing: list[str] = field(default_factory=list)  # stages to perform, as far as known before there is evidence
    cost: float | None = None  # estimated seconds of these stages

    @property
    def name(self) -> str:
        """The run's name."""
        return self.config.name

    @property
    def kind(self) -> tuple[str, ...]:
        """Cells of the same kind take about the same time."""
        return self.config.corpus, self.config.model, self.config.encoder

    @property
    def run(self) -> Run:
        """The run."""
        return Run(self.folder, self.config)


def survey(grid: Grid, out: Path, data: Path | str | None) -> list[Cell]:
    """Find the state of each cell."""
    sources, costs = Sources(data), Costs(_runs(out))
    cells = [Cell(config, out / config.name) for config in grid.configs]
    for cell in cells:
        try:
            run = Run.at(cell.folder, cell.config)
            sources.check(run)
            cell.missing = missing_stages(run, grid.experiments)
            if run.missing(["evidence"]):
                sources.content(cell.config)
        except NotFound as error:
            cell.state, cell.reason = "absent", str(error)
        except HeedfulError as error:
            cell.state, cell.reason = "failed", str(error)
        else:
            cell.state = "waiting" if cell.missing else "done"
            cell.cost = costs.of(cell.config, cell.missing)
    return cells


def time_left(cells: Sequence[Cell], workers: int, elapsed: Mapping[str, float]) -> float | None:
    """Estimated seconds until all cells are finished; `elapsed`: seconds of the running ones.

    A cell is expected to take as long as cells of its kind took in this sweep, else as runs of its kind took before,
    else as other cells took; None without any of these.
    """
    took: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for cell in cells:
        if cell.state == "done" and cell.seconds:
            for kind in (cell.kind, ()):
                took[kind].append(cell.seconds)
    left = []
    for cell in cells:
        if cell.state in ("waiting", "running"):
            seconds = took.get(cell.kind) or ([cell.cost] if cell.cost is not None else took.get(()))
            if not seconds:
                return None
            left.append(max(0.0, sum(seconds) / len(seconds) - elapsed.get(cell.name, 0.0)))
    return max(sum(left) / max(1, workers), max(left, default=0.0))


def missing_stages(run: Run, experiments: tuple[str, ...] | None) -> list[str]:
    """The stages that are not done; before there is evidence, with all requested experiments."""
    if run.missing(["evidence"]):
        return run.missing(["evidence", *(DEFAULT if experiments is None else experiments)])
    columns = scan(run.folder / "evidence.parquet").collect_schema().names()
    return run.missing(["evidence", *choose_experiments(experiments, columns)])


FOLDER = ".sweep"  # in the folder of run directories
_PAUSE = 0.25  # minimum seconds between two writes


class Status(NamedTuple):
    """The progress of a running cell."""

    task: str = ""
    steps: int = 0
    total: int | None = None
    note: str = ""
    left: float | None = None  # estimated seconds of the task


class StatusReporter(Reporter):
    """Writes a cell's status and log; failing to write them does not stop the cell."""

    def __init__(self, out: Path, cell: str) -> None:
        self._file, self._log = status_file(out, cell), log_file(out, cell)
        self._status = Status()
        self._first: int | None = None  # the first steps reported: a resumed task does not start at 0
        self._started = self._first_time = self._written = 0.0
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)

    def log(self, text: str) -> None:
        """Add lines to the log, each with the time."""
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        with contextlib.suppress(OSError, HeedfulError), open_log(self._log) as file:
            file.writelines(f"{now} {printable(line)}\n".encode() for line in text.splitlines())

    def notice(self, text: str) -> None:
        """A line of the log."""
        self.log(text)

    def start(self, task: str, total: int | None = None) -> None:
        """A new task."""
        self._status, self._first = Status(task, total=total), None
        self._started = time.monotonic()
        self._write()

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        """Write at most every _PAUSE seconds."""
        now = time.monotonic()
        if self._first is None:
            self._first, self._first_time = steps, now
        if not 0 <= now - self._written < _PAUSE:
            total = self._status.total if total is None else total
            self._status = Status(self._status.task, steps, total, note, self._left(steps, total, now))
            self._write()

    def finish(self, summary: str = "") -> None:
        """A line for the log."""
        self.log(f"{self._status.task}: {summary} ({seconds_since(self._started):.1f} s)")

    def _left(self, steps: int, total: int | None, now: float) -> float | None:
        if total is None or self._first is None or steps <= self._first:
            return None
        return max(0.0, now - self._first_time) / (steps - self._first) * max(0, total - steps)

    def _write(self) -> None:
        self._written = time.monotonic()
        with contextlib.suppress(OSError), temporary_file(self._file) as temporary:  # no fsync: the next one comes soon
            temporary.write_text(json.dumps(self._status._asdict()), encoding="utf-8")
            temporary.replace(self._file)


def status_file(out: Path, cell: str) -> Path:
    """The status file of a cell."""
    return out / FOLDER / f"{cell}.json"


def log_file(out: Path, cell: str) -> Path:
    """The log file of a cell."""
    return out / FOLDER / f"{cell}.log"


def read_status(out: Path, cell: str) -> Status:
    """The last status that a cell wrote."""
    try:
        return Status(**json.loads(status_file(out, cell).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):  # not written yet
        return Status()
