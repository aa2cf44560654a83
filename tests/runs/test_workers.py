from pathlib import Path

import pytest

from heedful.errors import BadConfig, HeedfulError
from heedful.files import Parts
from heedful.runs import experiment_stages
from heedful.runs.directory import Run
from heedful.runs.execution import perform
from heedful.runs.workers import Workers, stage_parts
from tests.runs.small import VALUES, contents

EXPERIMENTS = ["correlation", "permutation", "erasure", "highlights"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_stages, "PART_INSTANCES", 7)
    monkeypatch.setattr(experiment_stages, "PART_ITEMS", 200)
    monkeypatch.setattr(experiment_stages, "ERASURE_INSTANCES", 10)


def test_workers_make_no_difference(tmp_path: Path) -> None:
    values = {
        **VALUES,
        "experiment_options": {"sample": 29},
    }  # fixed: of highlights the usual one is as large as needed
    alone = perform(values, out=tmp_path / "alone", experiments=EXPERIMENTS)
    shared = perform(values, out=tmp_path / "shared", experiments=[])
    pieces = {stage: len(stage_parts(alone, stage).pieces) for stage in ("importance", *EXPERIMENTS)}
    expected = {"correlation": 5, "permutation": 5, "erasure": 3, "highlights": 3}
    assert pieces == {"importance": pieces["importance"], **expected}
    assert pieces["importance"] > 2
    parted = stage_parts(alone, "importance")  # a worker of an earlier attempt was further than another
    Parts(shared.folder / "importance.parquet").put(2, parted.part(*parted.pieces[2]))
    shared = perform(values, out=tmp_path / "shared", experiments=EXPERIMENTS, workers=2)
    assert contents(shared.folder) == contents(alone.folder)


def test_what_a_worker_cannot_do_is_told(tmp_path: Path) -> None:
    run = perform(VALUES, out=tmp_path, experiments=[])
    evidence = run.folder / "evidence.parquet"
    broken = evidence.read_bytes()
    evidence.write_bytes(broken[:200] + b"x" * 400)
    with (
        pytest.raises(HeedfulError, match=r"reach: .*evidence\.parquet is damaged.*run again to resume"),
        Workers(2, 1) as workers,
    ):
        list(workers.share(Run.open(run.folder), "reach", {0: (0, 7), 1: (7, 14)}))


def test_no_worker_is_too_few(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="workers = 0: at least one"):
        perform(VALUES, out=tmp_path / "runs", workers=0)
    assert not (tmp_path / "runs").exists()
