import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import heedful
from heedful.engines.local import LocalEngine
from heedful.engines.task import Task
from heedful.errors import BadConfig
from heedful.runs.execution import perform
from heedful.sweeps.cells import Cell, Costs, Status, StatusReporter, log_file, read_status, survey, time_left
from heedful.sweeps.grid import make_grid
from heedful.sweeps.sweep import Watcher, work
from tests.runs.small import VALUES, contents

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ["correlation", "permutation", "reach"]
GRID: dict[str, Any] = {
    **VALUES,
    "encoder": ["bilstm", "average"],
    "seed": [0, 1],
    "experiments": EXPERIMENTS,
    "case": [{"when": {"encoder": "average", "seed": 1}, "skip": True}],
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """The same runs, one after the other in this process."""
    out = tmp_path_factory.mktemp("alone")
    runs = [
        perform({**VALUES, "encoder": encoder, "seed": seed}, out=out, experiments=EXPERIMENTS)
        for encoder, seed in (("bilstm", 0), ("bilstm", 1), ("average", 0))
    ]
    return {run.folder.name: contents(run.folder) for run in runs}


def found(out: Path) -> dict[str, dict[str, bytes]]:
    return {folder.name: contents(folder) for folder in out.iterdir() if not folder.name.startswith(".")}


class Recorder(Watcher):
    def __init__(self) -> None:
        self.events: list[tuple[str, str, str]] = []
        self.looks = 0

    def started(self, cell: Cell) -> None:
        self.events.append(("started", cell.name, ""))

    def ended(self, cell: Cell) -> None:
        self.events.append((cell.state, cell.name, cell.reason))

    def look(self, running: Mapping[str, Status]) -> None:
        self.looks += 1


def test_a_sweep_leaves_what_runs_by_themselves_leave(alone: dict[str, dict[str, bytes]], tmp_path: Path) -> None:
    perform({**VALUES, "encoder": "bilstm", "seed": 0}, out=tmp_path, experiments=EXPERIMENTS)
    watcher = Recorder()
    result = heedful.sweep(GRID, workers=2, out=tmp_path, watcher=watcher)
    assert result.complete
    assert found(tmp_path) == alone
    assert [cell.attempts for cell in result.cells] == [0, 1, 1]  # a run done alone counts
    assert len(result.runs) == 3
    assert all(run.metrics["test"]["n"] == 30 for run in result.runs)
    done = {name for state, name, _ in watcher.events if state == "done"}
    assert done == {cell.name for cell in result.cells[1:]}
    log = log_file(tmp_path, result.cells[1].name).read_text()
    assert "begun" in log
    assert "reach: No attention weights could change" in log
    assert not list((tmp_path / ".sweep").glob("*.json"))
    again = Recorder()
    assert heedful.sweep(GRID, out=tmp_path, watcher=again).complete
    assert again.events == []
    more = survey(make_grid({**GRID, "experiments": [*EXPERIMENTS, "truth"]}), tmp_path, None)
    assert [cell.missing for cell in more] == [["truth"]] * 3


def test_what_cannot_be_done_is_told_and_stops_nothing(tmp_path: Path) -> None:
    table = {"when": {"corpus": "table"}, "corpus_options": {"file": str(tmp_path / "none.csv")}}
    grid = {
        "corpus": ["table", "imdb", "planted"],
        "embedding": {"width": 8},
        "training": {"epochs": 1},
        "encoder": "average",
        "experiments": [],
        "case": [table, {"when": {"corpus": "planted"}, **{"corpus_options": {"train": 64, "dev": 20, "test": 30}}}],
    }
    (tmp_path / "data").mkdir()
    result = heedful.sweep(grid, workers=1, out=tmp_path / "runs", data=tmp_path / "data")
    assert [cell.state for cell in result.cells] == ["absent", "absent", "done"]
    assert "none.csv" in result.cells[0].reason
    assert "corpus imdb was not found" in result.cells[1].reason
    assert not result.complete


def test_cells_of_other_data_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    table = tmp_path / "t.csv"
    table.write_text("text,label\n" + "".join(f"a {word} film {i},{word}\n" for i in range(20) for word in ("a", "b")))
    grid = {**VALUES, "corpus": "table", "corpus_options": {"file": str(table)}, "experiments": []}
    perform({key: value for key, value in grid.items() if key != "experiments"}, out=tmp_path, experiments=[])
    assert [cell.state for cell in survey(make_grid(grid), tmp_path, None)] == ["done"]
    table.write_text(table.read_text() + "another film,a\n")
    (cell,) = survey(make_grid(grid), tmp_path, None)
    assert cell.state == "failed"
    assert "begun on other data" in cell.reason


def _cells(count: int, tmp_path: Path) -> list[Cell]:
    configs = make_grid({"corpus": "planted", "seed": list(range(count))}).configs
    return [Cell(config, tmp_path / config.name) for config in configs]


def _worked(tmp_path: Path, works: Sequence[tuple[str, dict[str, Any]]], *, retries: int) -> list[Cell]:
    """Cells whose work is a stand-in."""
    cells = _cells(len(works), tmp_path)
    tasks = {
        cell.name: Task(cell.name, f"tests.runs.standing_in:{name}", arguments)
        for cell, (name, arguments) in zip(cells, works, strict=True)
    }
    with LocalEngine(2) as engine:
        work(engine, cells, lambda config: tasks[config.name], out=tmp_path, retries=retries, watcher=Watcher())
    return cells


def test_what_may_go_away_is_tried_again_and_what_stays_is_not(tmp_path: Path) -> None:
    works: list[tuple[str, dict[str, Any]]] = [
        ("sleep", {"seconds": 0}),
        ("refuse", {}),
        ("divide", {}),
        ("die", {}),
        ("die_once", {"file": str(tmp_path / "died")}),
        ("sleep", {"seconds": 0}),
    ]
    cells = _worked(tmp_path, works, retries=1)
    assert [(cell.state, cell.attempts) for cell in cells] == [
        ("done", 1),
        ("failed", 1),
        ("failed", 2),
        ("failed", 2),
        ("done", 2),
        ("done", 1),
    ]
    assert cells[1].reason == "the file is no file: mend it"
    assert "ZeroDivisionError: by zero (2 attempts)" in cells[2].reason
    assert "SIGKILL" in cells[3].reason
    assert not cells[4].reason


def test_no_retries(tmp_path: Path) -> None:
    (cell,) = _worked(tmp_path, [("die", {})], retries=0)
    assert (cell.state, cell.attempts) == ("failed", 1)
    with pytest.raises(BadConfig, match="retries = -1"):
        heedful.sweep(GRID, retries=-1)


def test_a_full_disk_in_one_cell_stops_no_other(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    cells = _worked(tmp_path, [("fill", {"folder": str(tmp_path)}), ("sleep", {"seconds": 0})], retries=1)
    assert [(cell.state, cell.attempts) for cell in cells] == [("failed", 1), ("done", 1)]
    assert "no space left while writing" in cells[0].reason


def _start(out: Path) -> "subprocess.Popen[str]":
    """A sweep of the grid by a process of its own."""
    code = (
        f"import heedful\nfrom tests.sweeps.test_sweep import GRID\nheedful.sweep(GRID, workers=1, out={str(out)!r})\n"
    )
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, text=True)


def _until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are looked at through /proc")


class WorkerKiller(Watcher):
    """Kills the worker of the first cell as soon as it has a vocabulary."""

    def __init__(self, out: Path) -> None:
        self.out, self.others, self.killed = out, set(_children(os.getpid())), 0

    def look(self, running: Mapping[str, Status]) -> None:
        if not self.killed and list(self.out.glob("*/vocabulary.parquet")):
            (self.killed,) = set(_children(os.getpid())) - self.others
            os.kill(self.killed, signal.SIGKILL)


@linux
def test_a_killed_worker_loses_only_the_cell_in_progress(alone: dict[str, dict[str, bytes]], tmp_path: Path) -> None:
    killer = WorkerKiller(tmp_path)
    assert heedful.sweep(GRID, workers=1, out=tmp_path, watcher=killer).complete
    assert killer.killed
    assert found(tmp_path) == alone


@linux
def test_a_killed_sweep_goes_on_and_leaves_no_orphans(alone: dict[str, dict[str, bytes]], tmp_path: Path) -> None:
    sweep = _start(tmp_path)
    _until(lambda: list(tmp_path.glob("*/training.jsonl")))
    workers = _children(sweep.pid)
    assert workers
    sweep.kill()
    sweep.communicate()
    _until(lambda: not any(map(_alive, workers)))
    assert heedful.sweep(GRID, workers=1, out=tmp_path).complete
    assert found(tmp_path) == alone


@linux
def test_a_terminated_sweep_stops_its_workers(tmp_path: Path) -> None:
    sweep = _start(tmp_path)
    _until(lambda: list(tmp_path.glob("*/config.toml")))
    workers = _children(sweep.pid)
    sweep.terminate()
    _, errors = sweep.communicate()
    assert sweep.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert not any(map(_alive, workers))
    assert not list(tmp_path.rglob(".*.tmp"))


def test_costs_are_those_of_runs_of_the_kind(tmp_path: Path) -> None:
    grid = make_grid({**GRID, "experiments": ["reach"]})
    assert [cell.cost for cell in survey(grid, tmp_path, None)] == [None] * 3
    run = perform({**VALUES, "seed": 7}, out=tmp_path, experiments=["reach"])
    stages = {name: {"seconds": 10.0, "peak_memory_mb": 1} for name in run.manifest["stages"]}
    run.record(stages=stages)
    assert [cell.cost for cell in survey(grid, tmp_path, None)] == [40.0, 40.0, None]
    assert Costs([run]).of(grid.configs[0], ["reach"]) == 10.0
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "manifest.json").write_text("{")
    assert survey(grid, tmp_path, None)[0].cost == 40.0


def test_the_time_left_is_that_of_cells_of_the_kind(tmp_path: Path) -> None:
    configs = make_grid({"corpus": "planted", "encoder": ["cnn", "average"], "seed": [0, 1, 2]}).configs
    cells = [Cell(config, tmp_path / config.name) for config in configs]
    assert time_left(cells, 2, {}) is None
    cells[0].state, cells[0].seconds = "done", 10.0
    cells[1].state = "running"
    assert time_left(cells, 2, {cells[1].name: 4.0}) == (6 + 10 + 3 * 10) / 2
    cells[3].cost = 2.0
    assert time_left(cells, 2, {cells[1].name: 40.0}) == (0 + 10 + 2 + 2 * 10) / 2
    assert time_left(cells[:1], 2, {}) == 0
    assert time_left([cells[0], cells[2]], 8, {}) == 10


def test_a_status_tells_how_far_a_cell_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("heedful.sweeps.cells.time.monotonic", lambda: now)
    assert read_status(tmp_path, "cell") == Status()
    reporter = StatusReporter(tmp_path, "cell")
    reporter.start("training", 100)
    assert read_status(tmp_path, "cell") == Status("training", 0, 100)
    now = 101.0
    reporter.reach(40, "epoch 1")  # it was resumed
    now = 111.0
    reporter.reach(60, "epoch 2", total=80)
    assert read_status(tmp_path, "cell") == Status("training", 60, 80, "epoch 2", 10.0)
    now = 111.1
    reporter.reach(61, "epoch 2")  # too soon to be written
    assert read_status(tmp_path, "cell").steps == 60
    reporter.finish("fine\x1b[31m")
    assert "training: fine\\x1b[31m (11.1 s)" in log_file(tmp_path, "cell").read_text()


def test_a_status_that_cannot_be_written_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / ".sweep").touch()
    reporter = StatusReporter(tmp_path, "cell")
    reporter.start("training", 100)
    reporter.log("text")
    reporter.finish()
    assert read_status(tmp_path, "cell") == Status()
