"""What happens around a run while it works: its cache is deleted, the clock is put back."""

import shutil
import time
from pathlib import Path

import pytest

from heedful.corpora.loading import load
from heedful.errors import NotFound
from heedful.progress import Reporter, seconds_since
from heedful.runs.execution import perform
from heedful.sweeps.cells import StatusReporter, log_file, read_status
from tests.runs.small import VALUES, contents


class Deleter(Reporter):
    """Deletes the cache as soon as a task begins."""

    def __init__(self, task: str, cache: Path) -> None:
        self.task, self.cache = task, cache

    def start(self, task: str, total: int | None = None) -> None:
        if task.startswith(self.task):
            shutil.rmtree(self.cache)


@pytest.mark.parametrize("task", ["vocabulary", "evidence"])
def test_a_cache_that_is_deleted_in_mid_run_is_named_and_made_anew(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("HEEDFUL_CACHE", str(cache))
    with pytest.raises(NotFound, match=r"the cache was deleted while this file was in use: run again, which makes it"):
        perform(VALUES, out=tmp_path / "cut", experiments=[], reporter=Deleter(task, cache))
    cut = perform(VALUES, out=tmp_path / "cut", experiments=[])
    whole = perform(VALUES, out=tmp_path / "whole", experiments=[])
    assert contents(cut.folder) == contents(whole.folder)


def test_a_cache_that_is_deleted_while_a_corpus_is_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("HEEDFUL_CACHE", str(cache))
    monkeypatch.setattr("heedful.corpora.writing.PART_TOKENS", 100)
    with pytest.raises(NotFound, match="the cache was deleted"):
        load("planted", options=VALUES["corpus_options"], progress=lambda _: shutil.rmtree(cache))
    assert load("planted", options=VALUES["corpus_options"]).sizes()["test"] == 30


def test_a_clock_that_goes_backwards_gives_no_negative_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(10**6, 0, -5))
    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: float(next(moments)))
    assert seconds_since(time.monotonic()) == 0
    run = perform(VALUES, out=tmp_path, experiments=["permutation"])
    assert {entry["seconds"] for entry in run.manifest["stages"].values()} == {0.0}
    reporter = StatusReporter(tmp_path, "cell")
    (tmp_path / ".sweep").mkdir(exist_ok=True)
    reporter.start("training", 10)
    for step in range(5):
        reporter.reach(step)
    reporter.finish("done")
    assert (read_status(tmp_path, "cell").left or 0) >= 0
    assert read_status(tmp_path, "cell").steps > 0
    assert "training: done (0.0 s)" in log_file(tmp_path, "cell").read_text()
