from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.report.charts import CHARTS
from heedful.report.charts.data import chart_rows, run_rows, sampled, select
from heedful.runs.directory import Run
from tests.making import make_evidence
from tests.report.made_run import made_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    return made_run(folder, make_evidence(n=12, outputs=3, longest=5), experiments=("removal", "single_weight"))


def test_rows_are_the_results_under_the_names_of_the_report(run: Run) -> None:
    rows = chart_rows(run, CHARTS["removal-fraction"])
    found, evidence = run.results("removal"), run.evidence
    assert [row["id"] for row in rows] == list(evidence.ids)
    assert [row["attention_fraction"] for row in rows] == found["attention_fraction"].to_list()
    assert [row["decided"] for row in rows] == [evidence.classes[decision] for decision in evidence.decisions]
    assert evidence.labels is not None
    assert [row["label_name"] for row in rows] == [evidence.classes[label] for label in evidence.labels]
    assert rows[0].keys() == {"id", "decided", "label_name", "items"} | {
        name for name in found.columns if name.endswith("_fraction")
    }


def test_what_is_undefined_is_none(run: Run) -> None:
    single = run.evidence.weights.lengths == 1
    assert single.any()
    assert [row["delta_js"] is None for row in chart_rows(run, CHARTS["delta-js"])] == single.tolist()


def test_nan_is_none(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", experiments=("single_weight",))
    nothing = run.results("single_weight").with_columns(attention_delta_js=pl.lit(float("nan")))
    nothing.write_parquet(run.folder / "results" / "single_weight.parquet")
    assert {row["delta_js"] for row in chart_rows(run, CHARTS["delta-js"])} == {None}


def test_rows_of_several_charts_are_read_at_once(run: Run) -> None:
    charts = [CHARTS["removal-mass"], CHARTS["delta-js"]]
    frame = run_rows(run, charts)
    for chart in charts:
        assert select(frame, chart) == chart_rows(run, chart)


def test_names_of_classes_can_be_printed(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", experiments=("single_weight",))
    run.record(corpus={"classes": ["a\x1b", "b\u202e"], "subset": False})
    assert {row["decided"] for row in chart_rows(run, CHARTS["delta-js"])} <= {"a\\x1b", "b\\u202e"}


def test_a_sample_does_not_depend_on_the_order() -> None:
    ids = [f"i{index}" for index in range(1000)]
    drawn = {name for name, taken in zip(ids, sampled(ids, 100), strict=True) if taken}
    turned = ids[::-1]
    assert len(drawn) == 100
    assert drawn == {name for name, taken in zip(turned, sampled(turned, 100), strict=True) if taken}
    assert drawn != set(ids[:100])


def test_a_larger_sample_holds_a_smaller_one() -> None:
    ids = [f"i{index}" for index in range(50)]
    assert not np.any(sampled(ids, 10) & ~sampled(ids, 20))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_few_instances_are_all_drawn(n: int) -> None:
    assert sampled([f"i{index}" for index in range(n)], 5).tolist() == [True] * n


def test_a_chart_of_points_has_so_many_rows_at_most(run: Run) -> None:
    few = replace(CHARTS["delta-js"], points=5)
    rows = chart_rows(run, few)
    assert len(rows) == 5
    order = list(run.evidence.ids)
    assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), key=order.index)
