import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import psutil
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
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayEngine]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield from _engine()


def _engine() -> Iterator[RayEngine]:
    with RayEngine(None, workers=2, threads=1) as engine:
        yield engine


def test_a_cluster_of_its_own_listens_on_loopback_only(engine: RayEngine, tmp_path: Path) -> None:
    engine.start(task("note", "note_process", file=str(tmp_path / "pid")))  # workers listen as well
    outcome(engine)
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    connections = [each for process in processes for each in process.net_connections("inet")]
    listening = [each.laddr for each in connections if each.status == psutil.CONN_LISTEN]
    assert len(listening) >= 5  # of the driver, the store of the cluster's state, the node and its workers
    for host, port in listening:
        address = ip_address(host)
        assert (getattr(address, "ipv4_mapped", None) or address).is_loopback, f"{host}:{port}"


def test_a_cluster_of_its_own_wants_its_token(engine: RayEngine) -> None:
    program = "import sys, ray; ray.init(address=sys.argv[1], logging_level='ERROR'); print(ray.nodes()[0]['Alive'])"
    address = engine._ray.get_runtime_context().gcs_address
    assert address.startswith("127.0.0.1:")
    for token, answered in ((os.environ["RAY_AUTH_TOKEN"], True), ("0" * 64, False)):
        environment = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
        command = [sys.executable, "-c", program, address]
        result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        assert (result.returncode == 0) is answered, result.stderr
        assert ("AuthenticationError" in result.stderr) is not answered


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
    assert "RAY_AUTH_TOKEN" not in os.environ
    assert not (Path(os.environ["HOME"]) / ".ray").exists()
