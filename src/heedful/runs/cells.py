"""The cells of a sweep: which are done, which cannot be, what is left to do."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from heedful.errors import HeedfulError, NotFound
from heedful.evidence import scan
from heedful.runs.config import RunConfig
from heedful.runs.costs import Costs
from heedful.runs.directory import Run
from heedful.runs.experimenting import USUAL, chosen
from heedful.runs.grid import Grid
from heedful.runs.sources import Sources

State = Literal["waiting", "running", "done", "failed", "absent"]  # absent: its corpus is not at hand


@dataclass
class Cell:
    """A run of a sweep."""

    config: RunConfig
    folder: Path
    state: State = "waiting"
    reason: str = ""  # why it failed or is absent
    seconds: float = 0.0  # in this sweep, all attempts together
    attempts: int = 0
    missing: list[str] = field(default_factory=list)  # stages to do, as far as that is known before
    cost: float | None = None  # about how many seconds they take

    @property
    def name(self) -> str:
        """The run's name."""
        return self.config.name

    @property
    def kind(self) -> tuple[str, ...]:
        """Cells of a kind take about the same time."""
        return self.config.corpus, self.config.model, self.config.encoder

    @property
    def run(self) -> Run:
        """The run."""
        return Run(self.folder, self.config)


def survey(grid: Grid, out: Path, data: Path | str | None) -> list[Cell]:
    """Look at what there is of each cell."""
    sources, costs = Sources(data), Costs.below(out)
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
    """About how many seconds the cells that are not finished will take; `elapsed`: of those that are running.

    A cell is expected to take what cells of its kind took in this sweep, else what runs of its kind took before, else
    what other cells took; None: there is nothing to go by.
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
    """The stages that are not done; before there is evidence, with all experiments that were asked for."""
    if run.missing(["evidence"]):
        return run.missing(["evidence", *(USUAL if experiments is None else experiments)])
    columns = scan(run.folder / "evidence.parquet").collect_schema().names()
    return run.missing(["evidence", *chosen(experiments, columns)])
