import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed")

import heedful.engines.ray
from heedful.engines import open_engine
from heedful.engines.ray import RayEngine
from heedful.engines.task import Outcome
from heedful.errors import NotFound
from heedful.runs.execution import perform
from tests.engines.test_local import outcome, process_in, task
from tests.runs.small import VALUES, contents

pytestmark = pytest.mark.xdist_group("ray")  # one cluster is enough


@pytest.fixture(scope="module")
def engine() -> Iterator[RayEngine]:
    with RayEngine(None, workers=2, threads=1) as engine:
        yield engine


def test_outcomes_tell_what_happened(engine: RayEngine, tmp_path: Path) -> None:
    engine.start(task("refuse", "refuse"))
    assert outcome(engine) == ("refuse", Outcome("failed", "the file is no file: mend it"))
    engine.start(task("divide", "divide"))
    assert outcome(engine) == ("divide", Outcome("crashed", "unexpected ZeroDivisionError: by zero"))
    engine.start(task("note", "note_process", file=str(tmp_path / "pid")))
    assert outcome(engine) == ("note", Outcome("done"))
    assert (tmp_path / "pid").read_text() != str(os.getpid())


def test_a_killed_worker_costs_its_task_and_no_other(engine: RayEngine, tmp_path: Path) -> None:
    engine.start(task("long", "note_and_sleep", file=str(tmp_path / "long"), seconds=60))
    engine.start(task("other", "note_and_sleep", file=str(tmp_path / "other"), seconds=1))
    assert engine.free == 0
    os.kill(process_in(tmp_path / "long"), signal.SIGKILL)
    ended = dict([outcome(engine), outcome(engine)])
    assert ended["other"].state == "done"
    assert ended["long"].state == "lost"
    assert "Ray lost it" in ended["long"].reason


def test_cells_on_ray_leave_what_runs_by_themselves_leave(engine: RayEngine, tmp_path: Path) -> None:
    from heedful.runs.config import resolve
    from heedful.sweeps.sweep import cell_task

    config = resolve(VALUES)
    engine.start(cell_task(config, out=tmp_path / "ray", data=None, experiments=["correlation", "permutation"]))
    assert outcome(engine) == (config.name, Outcome("done"))
    run = perform(VALUES, out=tmp_path / "alone", experiments=["correlation", "permutation"])
    assert contents(tmp_path / "ray" / config.name) == contents(run.folder)


def test_an_address_where_nothing_answers_is_named_soon() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(NotFound, match=f"no Ray cluster answers at {address}.*ray start --head"):
            open_engine("ray", workers=None, threads=1, address=address)


def test_an_address_where_something_else_answers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heedful.engines.ray, "PROBE", 2.0)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(NotFound, match="is no Ray cluster"):
            open_engine("ray", workers=None, threads=1, address=f"127.0.0.1:{other.getsockname()[1]}")


def test_what_is_stopped_is_left_in_good_order(engine: RayEngine, tmp_path: Path) -> None:
    """Last, because it ends the cluster that the tests share."""
    started, cleaned = tmp_path / "started", tmp_path / "cleaned"
    engine.start(task("cleaner", "clean_up", started=str(started), cleaned=str(cleaned)))
    process_in(started)
    engine.close()
    assert cleaned.exists()
