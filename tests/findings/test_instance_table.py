"""Rows: the figures of the results files, under the report's names, in the order of the evidence."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from heedful.evidence import decide
from heedful.files import write_parquet
from heedful.findings.instance_table import COLUMNS, columns_of, instance_rows
from heedful.runs.directory import Run
from tests.making import awkward_evidence, make_evidence
from tests.report.made_run import made_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made_run(tmp_path_factory.mktemp("runs") / "made", make_evidence(3, n=40, outputs=3))


def test_every_figure_is_that_of_the_results(run: Run) -> None:
    rows = instance_rows(run, COLUMNS)
    assert rows["id"].to_list() == list(run.evidence.ids)
    compared = [column for column in columns_of(run) if column.experiment != "evidence"]
    assert len(compared) > 30
    for column in compared:
        there = run.results(column.experiment)[column.source].rename(column.name)
        assert rows[column.name].equals(there, null_equal=True), column.name


def test_what_the_model_decided(run: Run) -> None:
    evidence, rows = run.evidence, instance_rows(run, COLUMNS)
    decided = decide(evidence.output)
    assert rows["decision"].to_list() == decided.tolist()
    assert rows["wrong"].to_list() == (decided != evidence.labels).tolist()
    assert rows["confidence"].to_list() == pytest.approx(evidence.output.max(axis=1).tolist())
    assert rows["items"].to_list() == evidence.weights.lengths.tolist()


def test_without_labels_nothing_is_right_or_wrong(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", replace(awkward_evidence(2), labels=None), experiments=("reach",))
    rows = instance_rows(run, ["label", "wrong"])
    assert rows["label"].is_null().all()
    assert rows["wrong"].is_null().all()


def test_an_experiment_that_was_not_performed_has_no_columns(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", make_evidence(), experiments=("reach",))
    assert {column.experiment for column in columns_of(run)} == {"evidence", "reach"}
    assert instance_rows(run, ["jsd", "attention_matters"]).columns == ["id", "attention_matters"]


def test_figures_find_their_instances_in_any_order(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", make_evidence(n=8), experiments=("reach",))
    before = instance_rows(run, ["attention_matters"])
    frame = run.results("reach")
    write_parquet(run.folder / "results" / "reach.parquet", frame[::-1][:-1])
    after = instance_rows(run, ["attention_matters"])
    assert after["attention_matters"][1:].equals(before["attention_matters"][1:])
    assert after["attention_matters"][0] is None


def test_names_are_fields_of_charts() -> None:
    assert all(name.isidentifier() for name in COLUMNS)
    assert pl.Series([column.title for column in COLUMNS.values()]).is_unique().all()
