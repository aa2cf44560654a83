"""What all tests share: a cache of their own, the real corpora if HEEDFUL_DATA says where they are, runs trained once.

Tests of one file stay on one worker, so that what a file prepares is prepared once. Costly files come first, so that
no worker is left alone with one of them at the end; `make test-quick` leaves them out.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from heedful.runs.directory import Run

# how long an example takes depends on what else the machine does; no test is about that
settings.register_profile("full", deadline=None, max_examples=100)
settings.register_profile("quick", deadline=None, max_examples=25)  # `tests.strategies.examples` scales the others
settings.load_profile("quick")  # unless --hypothesis-profile names the other

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: two workers on two cores, one thread each

# files and folders whose tests train, start processes, open a browser or read real corpora, the longest first
COSTLY = [
    "browser",
    "runs/test_execution.py",
    "sweeps/test_sweep.py",
    "cli",
    "documentation",
    "engines",
    "campaign",
    "report/site",
    "corpora/test_real_data.py",
    "test_wheel.py",
    "runs",
    "adapters",
    "audits",
    "importance",
    "calibration",
    "corpora/test_download.py",
    "corpora/test_loading.py",
    "report/tables",
    "report/terminal/test_width.py",
    "findings/test_audited_runs.py",
    "findings/test_cache.py",
    "experiments/test_experiment.py",
    "test_extending.py",
    "test_api.py",
    "test_controls.py",
    "test_privacy.py",
    "test_temporaries.py",
    "test_reproduction_page.py",
    "text/test_word2vec.py",
    "text/test_english_agreement.py",
]
_PLACES = [Path(__file__).parent / name for name in COSTLY]
assert all(place.exists() for place in _PLACES), "COSTLY names a file or folder that has moved"


def _rank(item: pytest.Item) -> int:
    """The place of a test's file among the costly ones; after them if it is none."""
    return next((rank for rank, place in enumerate(_PLACES) if item.path.is_relative_to(place)), len(_PLACES))


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_rank)
    for item in items:
        if _rank(item) < len(_PLACES):
            item.add_marker("costly")
        if item.get_closest_marker("xdist_group") is None:
            file = item.nodeid.partition("::")[0]
            browser = file.startswith("tests/browser/")  # one report for all of its files
            item.add_marker(pytest.mark.xdist_group("browser" if browser else file))


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user's own cache is left alone."""
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("HEEDFUL_CACHE"):
            patch.setenv("HEEDFUL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real corpora; tests that ask for it are skipped where there is none."""
    named = os.environ.get("HEEDFUL_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("HEEDFUL_DATA does not name a folder of real corpora")
    return Path(named)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all workers of this session."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def exclusive(file: Path) -> Iterator[None]:
    """One process at a time."""
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def small_run(shared: Path) -> "Run":
    """The run of `tests.runs.small` with its default experiments, trained once for all workers; for reading only."""
    from heedful.runs.execution import perform
    from tests.runs.small import VALUES

    with exclusive(shared / "small-run.lock"):
        return perform(VALUES, out=shared / "small-run")  # a finished one is not done again


@pytest.fixture
def copy_small_run(small_run: "Run") -> Callable[[Path], "Run"]:
    """A function that puts a copy of the small run, as if it had been done there, below a folder."""
    from heedful.runs.directory import Run

    return lambda out: Run.open(shutil.copytree(small_run.folder, out / small_run.folder.name))
