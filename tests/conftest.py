"""What all tests share: a cache of their own, and the real corpora if HEEDFUL_DATA says where they are."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# how long an example takes depends on what else the machine does; no test is about that
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: two workers on two cores, one thread each


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
