"""Key figures over seeds."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import heedful
from heedful.errors import BadInput
from heedful.experiments.agreement import agreement
from heedful.findings.configurations import seed_figures
from heedful.findings.key_figures import key_figures
from heedful.measures import bootstrap
from heedful.runs.directory import Run
from tests.report.seeded import run_as

EXPERIMENTS = ("permutation", "violation", "correlation")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    return [run_as(folder / f"run-{seed}", seed=seed, n=30, experiments=EXPERIMENTS) for seed in (2, 0, 1)]


def test_means_spread_and_intervals(runs: list[Run]) -> None:
    frame = seed_figures(runs, draws=300)
    row = frame.row(by_predicate=pl.col("figure") == "permuted_tvd", named=True)
    ordered = sorted(runs, key=lambda run: run.config.seed)
    values = np.stack([run.results("permutation")["median"].to_numpy() for run in ordered])
    interval = bootstrap(values, seed=0, draws=300)
    assert interval is not None
    assert row["seeds"] == [0, 1, 2]
    assert row["n"] == values.size
    assert row["mean"] == pytest.approx(values.mean())
    assert row["std"] == pytest.approx(values.mean(axis=1).std(ddof=1))
    assert (row["low"], row["high"]) == pytest.approx(interval)
    assert row["run_means"] == pytest.approx(values.mean(axis=1))
    alone = bootstrap(values[1], seed=0, draws=300)
    assert alone is not None
    assert (row["run_lows"][1], row["run_highs"][1]) == pytest.approx(alone)


def test_every_figure_of_a_single_run_is_its_own(runs: list[Run]) -> None:
    frame = seed_figures(runs[1:2], draws=100)
    own = {name: known for name, known in key_figures(runs[1], draws=100).items() if known is not None}
    assert set(frame["figure"]) == set(own)
    for row in frame.iter_rows(named=True):
        assert row["mean"] == pytest.approx(own[row["figure"]].value)
        assert (row["low"], row["high"]) == pytest.approx((own[row["figure"]].low, own[row["figure"]].high))
        assert row["std"] is None


def test_a_figure_that_only_some_runs_have(runs: list[Run], tmp_path: Path) -> None:
    bare = run_as(tmp_path / "bare", seed=5, n=30, experiments=("violation",))
    frame = seed_figures([*runs, bare], draws=50)
    counts = dict(frame.select("figure", pl.col("runs").list.len()).iter_rows())
    assert (counts["violates"], counts["permuted_tvd"]) == (4, 3)


def test_other_instances_are_refused(runs: list[Run], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="fewer and run-0 are of one configuration, but tested on other instances"):
        seed_figures([*runs, run_as(tmp_path / "fewer", seed=5, n=29)])


def test_pairs_are_those_of_one_configuration(runs: list[Run], tmp_path: Path) -> None:
    alone = run_as(tmp_path / "alone", seed=0, n=30, encoder="average")
    frame = heedful.seed_pairs([*runs, alone], draws=100)
    assert frame.select("first", "second").rows() == [(0, 1), (0, 2), (1, 2)]
    assert set(frame["encoder"]) == {"bilstm"}
    by_seed = {run.config.seed: run.evidence for run in runs}
    expected = agreement(by_seed[0], by_seed[2])
    row = frame.row(1, named=True)
    assert row["n"] == 30
    assert row["jsd"] == pytest.approx(expected["jsd"].mean())
    assert row["same"] == pytest.approx(expected["same"].mean())
    assert row["jsd_low"] < row["jsd"] < row["jsd_high"]
    assert heedful.seed_pairs([alone]).is_empty()


def test_runs_are_given_by_themselves_or_by_places(runs: list[Run]) -> None:
    expected = seed_figures(runs, draws=20)
    folder = runs[0].folder.parent
    assert heedful.seed_figures(folder, draws=20).equals(expected)
    assert heedful.seed_figures(str(folder), draws=20).equals(expected)
    assert heedful.seed_figures([runs[0], *(run.folder for run in runs[1:])], draws=20).equals(expected)
