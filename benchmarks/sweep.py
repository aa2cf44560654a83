"""Sweeps: two workers against one, and what scheduling costs."""

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import Result
from heedful.engines.local import LocalEngine
from heedful.engines.task import Task
from heedful.sweeps.cells import Cell
from heedful.sweeps.grid import make_grid
from heedful.sweeps.sweep import Watcher, sweep, work

SMALL: dict[str, Any] = {
    "corpus": "planted",
    "corpus_options": {"train": 1000, "dev": 200, "test": 300},
    "encoder": "bilstm",
    "training": {"epochs": 2},
    "importance": {"measures": ["gradient", "leave_one_out"]},
    "experiments": ["correlation", "permutation", "adversary", "reach", "removal"],
}


def workers_result(*, cells: int, least: float) -> Result:
    """A grid of small cells on one worker and on two, one thread each; workers are started anew for both."""
    grid = {**SMALL, "seed": list(range(cells))}
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for workers in (1, 2):
            started = time.perf_counter()
            if not sweep(grid, workers=workers, out=Path(folder) / str(workers)).complete:
                raise AssertionError("a cell failed")
            seconds[workers] = time.perf_counter() - started
    return Result(
        name=f"sweep of {cells} small cells, two workers against one",
        plain_seconds=seconds[1],
        fast_seconds=seconds[2],
        least=least,
        details={"cells": cells},
    )


def scheduling_result(*, cells: int, workers: int, least: float) -> Result:
    """Cells of a second each: the time they would take without any scheduling, against the time they do take."""
    configs = make_grid({"corpus": "planted", "seed": list(range(cells))}).configs
    with tempfile.TemporaryDirectory() as folder, LocalEngine(workers) as engine:
        out = Path(folder)
        waiting = [Cell(config, out / config.name) for config in configs]
        started = time.perf_counter()
        work(
            engine,
            waiting,
            lambda config: Task(config.name, "benchmarks.second:second", {}),
            out=out,
            watcher=Watcher(),
        )
        seconds = time.perf_counter() - started
    if any(cell.state != "done" for cell in waiting):
        raise AssertionError("a cell failed")
    ideal = cells / workers
    return Result(
        name=f"scheduling {cells} cells of a second on {workers} workers",
        plain_seconds=ideal,
        fast_seconds=seconds,
        least=least,
        details={"overhead": seconds / ideal - 1},
    )
