"""Tiny runs whose tables are made: one with everything, one without experiments."""

from pathlib import Path

import pytest

from heedful.runs.directory import Run
from heedful.runs.execution import perform
from tests.runs.small import VALUES

# long enough to decide for both classes
LEARNED = {**VALUES, "training": {"epochs": 6, "batch": 8, "learning_rate": 0.02}}


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return perform(LEARNED, out=tmp_path_factory.mktemp("whole"), experiments="all")


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Another seed, and nothing but its evidence."""
    return perform({**LEARNED, "seed": 1}, out=tmp_path_factory.mktemp("bare"), experiments=[])


@pytest.fixture
def unprepared(tmp_path: Path, whole: Run) -> Run:
    """A run of which only the configuration is there."""
    run = Run(tmp_path / "planted-bilstm-additive-0-00000000", whole.config)
    run.write_config()
    return run
