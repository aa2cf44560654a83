import json
import os
import shutil
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
import tomli_w
from rich.console import Console

from heedful.report.terminal.sweep import ConsoleWatcher, running_table
from heedful.sweeps.cells import Cell, Status
from heedful.sweeps.grid import make_grid, read_grid
from tests.cli.calling import heedful
from tests.runs.small import VALUES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a grid of two cells, done."""
    folder = tmp_path_factory.mktemp("swept")
    (folder / "grid.toml").write_text(tomli_w.dumps({"seed": [0, 1], "experiments": ["reach"], **VALUES}))
    answer = heedful("sweep", folder / "grid.toml", "--out", folder / "runs", "--workers", "1")
    assert answer.code == 0, answer.err
    assert "2 cells: 2 done" in answer.out
    words = [line.split()[0] for line in answer.err.splitlines()]
    lines = [words[0], *(word for word in words if word in ("started", "done"))]  # others if it takes long
    assert lines == ["2", "started", "done", "started", "done"]
    return folder


def test_what_is_done_is_not_done_again(swept: Path) -> None:
    answer = heedful("sweep", swept / "grid.toml", "--out", swept / "runs", "--json")
    assert answer.code == 0
    assert "started" not in answer.err
    cells = json.loads(answer.out)
    assert [(cell["state"], cell["attempts"], cell["missing"]) for cell in cells] == [("done", 0, [])] * 2
    assert all(Path(cell["run"]).is_dir() for cell in cells)


def test_a_dry_run_lists_the_cells_and_their_cost(swept: Path) -> None:
    arguments = ("sweep", swept / "grid.toml", "--out", swept / "runs", "--dry-run", "--set", "seed=[0,1,2]")
    before = sorted(swept.rglob("*"))
    answer = heedful(*arguments)
    assert answer.code == 0
    assert "3 cells: 2 done, 1 to do" in answer.out
    assert "to do: 1 cells, about" in answer.out
    assert "GB" in answer.out
    answer = heedful(*arguments, "--set", "encoder=average", "--json")
    cells = json.loads(answer.out)
    assert [(cell["state"], cell["expected_seconds"]) for cell in cells] == [("waiting", None)] * 3
    assert "reach" in cells[0]["missing"]
    assert sorted(swept.rglob("*")) == before


def test_corpora_that_are_not_at_hand_are_told(tmp_path: Path) -> None:
    answer = heedful("sweep", "jain-wallace", "--dry-run", "--data", tmp_path, "--out", tmp_path / "runs")
    assert answer.code == 0
    assert "72 cells: 72 corpus missing" in answer.out
    assert "and 5 more: corpus imdb was not found" in answer.out
    answer = heedful("sweep", "seeds", "--data", tmp_path, "--out", tmp_path / "runs")
    assert answer.code == 1
    assert "corpus sst was not found" in answer.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nothing"], "unknown grid 'nothing'"),
        (["seeds", "--set", "encodr=cnn"], "did you mean 'encoder'"),
        (["seeds", "--set", "seed=[]"], "the grid is empty"),
        (["seeds", "--set", "corpus=planted", "--on", "rey"], "did you mean 'ray'"),
        (["seeds", "--set", "corpus=planted", "--workers", "0"], "at least one is needed"),
        (["seeds", "--set", "corpus=planted", "--retries", "-1"], "retries = -1"),
    ],
)
def test_bad_use_is_one_line(arguments: list[str], problem: str, tmp_path: Path) -> None:
    answer = heedful("sweep", *arguments, "--out", tmp_path / "runs")
    assert answer.code == 2
    assert problem in answer.err
    assert answer.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_sweep_says_how_to_go_on(swept: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heedful.cli.main", "sweep", str(swept / "grid.toml"), "--out", str(tmp_path)]
    sweep = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".sweep/*.log")):
        time.sleep(0.01)
    sweep.send_signal(signal.SIGINT)
    _, errors = sweep.communicate()
    assert sweep.returncode == 130
    assert errors.splitlines()[-1] == "error: stopped: 0 of 2 cells are done; the same command resumes it"


def test_a_full_disk_under_one_cell(swept: Path, tmp_path: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no private mount namespace to be had here")
    small, large = (tmp_path / config.name for config in read_grid(swept / "grid.toml").configs)
    small.mkdir()
    command = f"{sys.executable} -m heedful.cli.main sweep {swept / 'grid.toml'} --out {tmp_path} --workers 1 --json"
    script = f"mount -t tmpfs -o size=20k tmpfs {small} || exit 77\n{command}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, env=environment)
    if result.returncode == 77:
        pytest.skip("mounting is not allowed here")
    assert result.returncode == 2, result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: no space left for 1 of 2 cells: free some space")
    cells = json.loads(result.stdout)
    assert [(Path(cell["run"]), cell["state"], cell["attempts"]) for cell in cells] == [
        (small, "failed", 1),
        (large, "done", 1),
    ]
    assert "no space left while writing" in cells[0]["reason"]


def test_the_table_of_running_cells(tmp_path: Path) -> None:
    configs = make_grid({"corpus": "planted", "seed": [0, 1, 2]}).configs
    cells = [Cell(config, tmp_path / config.name, "running") for config in configs]
    cells[0].state, cells[0].seconds = "done", 60.0
    running = {
        cells[1].name: Status("training", 1500, 2000, "epoch 3, \x1b[31mred", 30.0),
        cells[2].name: Status("vocabulary [bold]"),
    }
    console = Console(width=200, record=True, file=StringIO())
    console.print(running_table(cells, running, dict.fromkeys(running, 65.0), 2))
    text = console.export_text()
    assert "1,500/2,000" in text
    assert "30 s" in text
    assert "1 min 5 s" in text
    assert "vocabulary [bold]" in text
    assert "\x1b[31mred" not in text
    assert "3 cells: 1 done, 2 not finished; about 0 s left" in text


def test_attempts_and_reasons_are_told(tmp_path: Path) -> None:
    (config,) = make_grid({"corpus": "planted"}).configs
    cell = Cell(config, tmp_path / config.name, "running", attempts=2)
    console = Console(width=200, record=True, file=StringIO())
    watcher = ConsoleWatcher(console)
    watcher.begin([cell], 1)
    watcher.started(cell)
    cell.state, cell.reason = "waiting", "its worker\nwas [killed]"
    watcher.ended(cell)
    text = console.export_text()
    assert "(attempt 2)" in text
    assert "again" in text
    assert "0/1): its worker was [killed]" in text
