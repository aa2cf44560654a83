"""Many runs as one frame."""

import json
from pathlib import Path

import polars as pl
import pytest

import heedful
from heedful.errors import BadConfig, BadInput, NotFound
from heedful.runs.catalogue import configuration_of
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from tests.making import make_evidence
from tests.report.made_run import made_run


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    made_run(folder / "two", make_evidence(1, n=7), experiments=("permutation", "reach"))
    made_run(folder / "deeper" / "three", make_evidence(2, n=5, outputs=3), experiments=("permutation", "removal"))
    made_run(folder / "bare", make_evidence(3, n=4), experiments=())
    Run(folder / "begun", resolve({"corpus": "planted", "encoder": "cnn", "seed": 3})).write_config()
    return folder


def test_results_of_all_runs(places: Path) -> None:
    frame = heedful.scan(places, "permutation")
    assert isinstance(frame, pl.LazyFrame)
    found = frame.collect()
    for name, folder in {"two": "two", "three": "deeper/three"}.items():
        own = heedful.Run.open(places / folder).results("permutation")
        assert found.filter(pl.col("run") == name).select(own.columns).equals(own)
    assert found["run"].unique().len() == 2
    assert found.columns[:9] == "run corpus model encoder attention seed preset subset configuration".split()
    means = frame.group_by("run").agg(pl.col("median").mean()).collect()
    assert dict(means.iter_rows())["two"] == pytest.approx(
        heedful.Run.open(places / "two").results("permutation")["median"].mean()
    )


def test_columns_that_only_some_runs_have(places: Path, tmp_path: Path) -> None:
    run = made_run(tmp_path / "older", make_evidence(1, n=3), experiments=("removal",))
    file = run.folder / "results" / "removal.parquet"
    kept = pl.read_parquet(file).drop("gradient_count").with_columns(optimal_count=pl.lit(None))
    kept.write_parquet(file)
    found = heedful.scan([tmp_path, places], "removal").collect()
    assert found.filter(pl.col("run") == "older")["gradient_count"].is_null().all()
    assert found.filter(pl.col("run") == "three")["gradient_count"].is_not_null().any()
    assert found["optimal_count"].dtype == pl.Int32


def test_metrics_are_one_row_a_run(places: Path) -> None:
    found = heedful.scan(places).collect().sort("run")
    assert found["run"].to_list() == ["bare", "three", "two"]
    for row in found.iter_rows(named=True):
        folder = places / ("deeper/three" if row["run"] == "three" else row["run"])
        test = heedful.Run.open(folder).metrics["test"]
        assert (row["n"], row["accuracy"]) == (test["n"], test["accuracy"])


def test_evidence_of_several_models(places: Path) -> None:
    found = heedful.scan(places, "evidence").select("run", pl.col("output").list.len()).unique().collect()
    assert sorted(found.rows()) == [("bare", 1), ("three", 3), ("two", 1)]


def test_the_state_of_each(places: Path, tmp_path: Path) -> None:
    bad = made_run(tmp_path / "bad", make_evidence(), experiments=())
    (bad.folder / "manifest.json").write_text("{")
    odd = made_run(tmp_path / "odd", make_evidence(), experiments=())
    (odd.folder / "config.toml").write_text((odd.folder / "config.toml").read_text().replace("seed = 0", "seed = '0'"))
    frame = heedful.runs_in([places, tmp_path])
    states = dict(frame.select("run", "state").iter_rows())
    assert states == {
        "bare": "finished",
        "begun": "unfinished",
        "three": "finished",
        "two": "finished",
        "bad": "damaged",
        "odd": "damaged",
    }
    rows = {row["run"]: row for row in frame.iter_rows(named=True)}
    assert rows["three"]["experiments"] == ["permutation", "removal"]
    assert (rows["begun"]["encoder"], rows["begun"]["seed"], rows["begun"]["experiments"]) == ("cnn", 3, [])
    assert "manifest.json is damaged" in rows["bad"]["damage"]
    assert "seed = '0'" in rows["odd"]["damage"]
    assert rows["two"]["configuration"] == configuration_of(Run.open(places / "two").config)
    assert rows["bare"]["configuration"] == rows["two"]["configuration"] != rows["begun"]["configuration"]


def test_a_subset_is_what_the_corpus_is(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", make_evidence(), experiments=())
    manifest = json.loads((run.folder / "manifest.json").read_text())
    manifest["corpus"]["subset"] = True
    (run.folder / "manifest.json").write_text(json.dumps(manifest))
    assert heedful.runs_in(tmp_path)["subset"].to_list() == [True]


def test_a_shorter_configuration_is_completed(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", make_evidence(), experiments=())
    (run.folder / "config.toml").write_text('corpus = "planted"\nmodel = "flan"\n')
    assert heedful.runs_in(tmp_path).select("model", "encoder", "preset").row(0) == ("flan", "bigru", "paper")


def test_errors(places: Path, tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"unknown experiment 'permutations'.*did you mean 'permutation'"):
        heedful.scan(places, "permutations")
    with pytest.raises(NotFound, match="none of 4 runs has results of violation"):
        heedful.scan(places, "violation")
    with pytest.raises(NotFound, match="holds none"):
        heedful.scan(tmp_path)
    run = made_run(tmp_path / "made", make_evidence(), experiments=("violation",))
    (run.folder / "results" / "violation.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(BadInput, match=r"violation\.parquet is damaged"):
        heedful.scan(tmp_path, "violation")
