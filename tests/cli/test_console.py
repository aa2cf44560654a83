"""Progress: bars in a terminal, and elsewhere a line now and then."""

import time
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from heedful.cli import console
from heedful.report.terminal.sweep import ConsoleWatcher
from heedful.sweeps.cells import Status

PATIENCE = 30.0  # seconds after which a test gives up; none waits so long


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What is written where there is no terminal."""
    written = StringIO()
    monkeypatch.setattr(console, "notices", Console(file=written, width=80, highlight=False))
    return written


def said(log: StringIO, words: str) -> bool:
    """Whether the words appear in the log before patience ends."""
    until = time.monotonic() + PATIENCE
    while words not in log.getvalue() and time.monotonic() < until:
        time.sleep(0.01)
    return words in log.getvalue()


def test_a_log_says_how_far_a_silent_task_is(log: StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "SILENCE", 0.05)
    with console.bars() as reporter:
        reporter.start("reading")
        assert said(log, "reading: working ...")
        reporter.start("training", 400)
        reporter.reach(120, "epoch 2")
        assert said(log, "training: 120 of 400, epoch 2 ...")
        reporter.finish("done")
        before = log.getvalue()
        assert before.endswith("training: done\n")
        time.sleep(0.2)
        assert log.getvalue() == before  # between tasks there is nothing to say


def test_a_log_is_not_flooded(log: StringIO) -> None:
    with console.bars() as reporter:
        reporter.start("training", 400)
        for step in range(400):
            reporter.reach(step)
        reporter.finish("done")
    assert log.getvalue().count("\n") == 1


def test_brief_progress_has_lines_of_long_tasks_and_notices_only(
    log: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    with console.bars(brief=True) as reporter:
        reporter.start("short")
        reporter.finish("done")
        reporter.notice("the corpus was read by an earlier version")
        monkeypatch.setattr(console, "LONG", 0.0)
        reporter.start("long")
        reporter.finish("done")
    first, last = log.getvalue().splitlines()
    assert first == "the corpus was read by an earlier version"
    assert last.endswith("s  long: done")


def test_a_log_of_a_sweep_says_what_is_running(monkeypatch: pytest.MonkeyPatch) -> None:
    written = StringIO()
    watcher = ConsoleWatcher(Console(file=written, width=80, highlight=False))
    cell: Any = SimpleNamespace(name="one", state="running", attempts=1)
    watcher.begin([cell], 1)
    watcher.started(cell)
    watcher.look({"one": Status("training", 3, 9)})
    assert "running   one" not in written.getvalue()
    monkeypatch.setattr("heedful.report.terminal.sweep.SILENCE", 0.0)
    watcher.look({"one": Status("training", 3, 9)})
    assert "running   one: training 3/9, 0 s" in written.getvalue()
