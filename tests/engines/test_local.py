import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from heedful.engines import Engine, open_engine
from heedful.engines.local import LocalEngine
from heedful.engines.task import Outcome, Task
from heedful.errors import BadConfig, MissingExtra, install_hint

ROOT = Path(__file__).parents[2]


def task(name: str, work: str, *, threads: int = 1, **arguments: Any) -> Task:
    return Task(name, f"tests.runs.standing_in:{work}", arguments, threads)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def process_in(file: Path) -> int:
    until(lambda: file.exists() and file.read_text())
    return int(file.read_text())


def outcome(engine: Engine) -> tuple[str, Outcome]:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        for ended, result in engine.wait(1.0):
            return ended.name, result
    raise AssertionError("no task has ended")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalEngine]:
    with LocalEngine(2, log=tmp_path / "workers.log") as engine:
        yield engine


def test_outcomes_tell_what_happened(engine: LocalEngine, tmp_path: Path) -> None:
    for work in ("refuse", "divide"):
        engine.start(task(work, work))
        name, result = outcome(engine)
        assert name == work
        if work == "refuse":
            assert result == Outcome("failed", "the file is no file: mend it")
        else:
            assert result == Outcome("crashed", "unexpected ZeroDivisionError: by zero")
    log = (tmp_path / "workers.log").read_text()
    assert "what libraries print" in log
    assert "Traceback" in log


def test_workers_stay(engine: LocalEngine, tmp_path: Path) -> None:
    seen = set()
    for number in range(5):
        engine.start(task(str(number), "note_process", file=str(tmp_path / "pid")))
        assert outcome(engine)[1].state == "done"
        seen.add(process_in(tmp_path / "pid"))
    assert len(seen) == 1  # the second worker was never needed
    assert seen != {os.getpid()}


def test_a_killed_worker_costs_its_task_and_no_other(engine: LocalEngine, tmp_path: Path) -> None:
    engine.start(task("long", "note_and_sleep", file=str(tmp_path / "long"), seconds=60))
    engine.start(task("other", "note_and_sleep", file=str(tmp_path / "other"), seconds=1))
    assert engine.free == 0
    os.kill(process_in(tmp_path / "long"), signal.SIGKILL)
    ended = dict([outcome(engine), outcome(engine)])
    assert ended["other"].state == "done"
    assert ended["long"].state == "lost"
    assert "ended by SIGKILL" in ended["long"].reason
    assert engine.free == 2
    engine.start(task("next", "note_process", file=str(tmp_path / "next")))
    engine.start(task("beside", "note_process", file=str(tmp_path / "beside")))
    assert {outcome(engine)[1].state, outcome(engine)[1].state} == {"done"}


def test_a_worker_killed_while_idle_is_replaced(engine: LocalEngine, tmp_path: Path) -> None:
    engine.start(task("first", "note_process", file=str(tmp_path / "pid")))
    outcome(engine)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    until(lambda: not engine.wait(0.05) and not engine._pool)
    engine.start(task("second", "note_process", file=str(tmp_path / "pid")))
    assert outcome(engine) == ("second", Outcome("done"))


def test_libraries_are_limited_to_the_threads_of_the_task(engine: LocalEngine, tmp_path: Path) -> None:
    for threads in (1, 3, 3, 1):
        engine.start(task("threads", "note_threads", threads=threads, file=str(tmp_path / "threads")))
        assert outcome(engine)[1].state == "done"
        assert (tmp_path / "threads").read_text() == str(threads)


def test_what_is_stopped_is_left_in_good_order(tmp_path: Path) -> None:
    started, cleaned = tmp_path / "started", tmp_path / "cleaned"
    with LocalEngine(1) as engine:
        engine.start(task("cleaner", "clean_up", started=str(started), cleaned=str(cleaned)))
        process = process_in(started)
    assert cleaned.exists()
    assert not _alive(process)


def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    code = (
        "from heedful.engines.local import LocalEngine\n"
        "from heedful.engines.task import Task\n"
        "engine = LocalEngine(2)\n"
        "for name in 'ab':\n"
        f"    arguments = {{'file': {str(tmp_path)!r} + '/' + name, 'seconds': 60}}\n"
        "    engine.start(Task(name, 'tests.runs.standing_in:note_and_sleep', arguments))\n"
        "engine.wait(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    workers = [process_in(tmp_path / name) for name in "ab"]
    parent.kill()
    parent.wait()
    until(lambda: not any(map(_alive, workers)))


def test_bad_engines_are_named() -> None:
    with pytest.raises(BadConfig, match=r"unknown engine 'rey' \(did you mean 'ray'\?\)"):
        open_engine("rey", workers=None, threads=1)
    with pytest.raises(BadConfig, match="workers = 0: at least one"):
        open_engine("local", workers=0, threads=1)
    with pytest.raises(BadConfig, match="goes with ray"):
        open_engine("local", workers=1, threads=1, address="head:6379")


def test_ray_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.engines.ray.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=f"a sweep on Ray needs ray.*{re.escape(install_hint('ray'))}"):
        open_engine("ray", workers=None, threads=1)


def _alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
