"""Every chart, on rows as awkward as they come."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from heedful.findings.instance_table import COLUMNS
from heedful.report.charts import CHARTS, Chart, Facts
from heedful.report.charts.render import to_svg
from tests.making import make_evidence
from tests.report.made_run import made_run

HOSTILE = ("a'b\"</text><script>&\\", "${x} {{y}} %d [0] \u202e", "")
Rows = list[dict[str, Any]]


def _facts(classes: tuple[str, ...] = ("bad", "good"), n: int = 8, **facts: Any) -> Facts:
    known = {"epsilon": 0.01, "columns": frozenset(COLUMNS), "grouped": len(classes) <= 3}
    return Facts(classes=classes, n=n, **{**known, **facts})


def _rows(chart: Chart, classes: tuple[str, ...], n: int, value: Any = "random") -> Rows:
    draw = np.random.default_rng(0)
    rows = []
    for index in range(n):
        decision = index % len(classes)
        row = {"id": f"i<{index}>", "decided": classes[decision], "label_name": None}
        for name in (*chart.columns, *chart.optional):
            row[name] = float(draw.random()) if value == "random" else value
        if "decision" in chart.columns:
            row["decision"] = decision
        if "items" in chart.columns:
            row["items"] = 1 + index
        rows.append(row)
    return rows


def _awkward(chart: Chart) -> Iterator[tuple[str, Facts, Rows]]:
    few, many = ("bad", "good"), tuple("abcdefgh")
    yield "none", _facts(few), []
    yield "all undefined", _facts(few), _rows(chart, few, 8, None)
    yield "one", _facts(HOSTILE), _rows(chart, HOSTILE, 1)
    yield "hostile names", _facts(HOSTILE), _rows(chart, HOSTILE, 8)
    yield "all equal, in one class", _facts(few), _rows(chart, few[:1], 8, 0.5)
    yield "at the ends", _facts(few), _rows(chart, few, 4, 0.0) + _rows(chart, few, 4, 1.0)
    yield "many classes", _facts(many), _rows(chart, many, 16) + _rows(chart, many, 2, None)


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_whatever_the_rows_the_drawing_is_well_formed(chart: Chart) -> None:
    for kind, facts, rows in _awkward(chart):
        svg = to_svg(chart.spec(facts), rows)
        assert "NaN" not in svg, kind
        assert "script" not in {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}, kind


@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_specifications_are_valid_and_hold_neither_rows_nor_a_theme(chart: Chart, grouped: bool) -> None:
    facts = _facts(grouped=grouped)
    chart.build(facts).to_dict()  # raises what Altair finds wrong
    spec = chart.spec(facts)
    sources = [source for source in _found(spec, "data") if "sequence" not in source]  # that is a fixed line
    assert sources
    assert all(source == {"name": "rows"} for source in sources)
    assert "datasets" not in spec
    assert "config" not in spec
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/v6")


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_no_more_is_drawn_than_the_columns_that_are_declared(chart: Chart) -> None:
    text = json.dumps(chart.spec(_facts()))
    used = {name for name in COLUMNS if re.search(rf"\b{name}\b", re.sub(r'"(title|description)": "[^"]*"', "", text))}
    said = {*chart.columns, *chart.optional}
    assert used - {"decision"} <= said | {"items"}
    assert set(chart.columns) <= used


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_a_brush_picks_rows_by_their_columns(chart: Chart) -> None:
    params = [param for params in _found(chart.spec(_facts()), "params") for param in params]
    if chart.brush is None:
        assert params == []
        return
    (brush,) = params
    assert brush["name"] == "brush"
    assert brush["select"]["encodings"] == ["x", "y"][: len(chart.brush)]
    views = list(_views(chart.spec(_facts())))
    (view,) = [view for view in views if view.get("name") in brush.get("views", [])] if len(views) > 1 else views
    assert tuple(view["encoding"][axis]["field"] for axis in brush["select"]["encodings"]) == chart.brush


def test_nothing_is_said_by_colour_alone() -> None:
    for name, chart in CHARTS.items():
        views = [view for view in _views(chart.spec(_facts())) if "field" in view["encoding"].get("color", {})]
        for view in views:
            told = {"shape", "strokeDash", "detail"} & view["encoding"].keys()  # `detail`: a lane of its own
            assert told or "row" in chart.spec(_facts()).get("facet", {}), name


def test_colours_of_text_and_ground_are_left_to_the_theme() -> None:
    for chart in CHARTS.values():
        for view in _views(chart.spec(_facts())):
            if view["mark"]["type"] in ("text", "rule", "tick"):
                assert "color" not in view["mark"]
                assert "color" not in view["encoding"]


def test_a_sample_is_said_to_be_one() -> None:
    chart = CHARTS["delta-js"]
    assert chart.spec(_facts(n=50_000))["title"] == "5,000 of 50,000 instances, drawn at random"
    assert "title" not in chart.spec(_facts(n=5_000))


def test_a_specification_is_its_askers_own() -> None:
    chart = CHARTS["delta-js"]
    chart.spec(_facts())["layer"].clear()
    assert chart.spec(_facts())["layer"]


def test_what_was_not_performed_is_said_with_what_to_do(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", experiments=("removal", "permutation"))
    assert CHARTS["removal-mass"].missing(run) is None
    assert CHARTS["permutation"].missing(run) is None
    told = CHARTS["adversary-densities"].missing(run)
    assert told is not None
    assert told.startswith("adversary was not performed; `heedful run` with the same options")
    assert "--experiments adversary does it" in told


def test_what_cannot_be_performed_is_not_recommended(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", replace(make_evidence(), truth=None), experiments=())
    told = CHARTS["truth-mass"].missing(run)
    assert told is not None
    assert "this corpus has none" in told
    assert "heedful run" not in told


def test_a_measure_that_was_left_out_is_named(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", experiments=("correlation",))
    results = run.results("correlation").drop("tau_attention_leave_one_out")
    results.write_parquet(tmp_path / "run" / "results" / "correlation.parquet")
    assert CHARTS["tau-gradient"].missing(run) is None
    assert "'tau_attention_leave_one_out'" in (CHARTS["tau-densities"].missing(run) or "")


def test_facts_of_a_run(tmp_path: Path) -> None:
    facts = Facts.of(made_run(tmp_path / "affine", experiments=("removal",)))
    assert (facts.classes, facts.grouped, facts.n, facts.epsilon) == (("a", "b"), True, 30, 0.01)
    assert "optimal_fraction" in facts.columns
    other = make_evidence(n=4, outputs=5, decoder="tanh")
    unknown = Facts.of(made_run(tmp_path / "tanh", other, experiments=("removal",)))
    assert not unknown.grouped
    assert "attention_fraction" in unknown.columns
    assert "optimal_fraction" not in unknown.columns


def _found(value: Any, key: str) -> Iterator[Any]:
    """All that stands under a key, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            yield from _found(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _found(inner, key)


def _views(spec: Any) -> Iterator[dict[str, Any]]:
    """The single views of a specification."""
    if "mark" in spec:
        yield spec
    for inner in (*spec.get("layer", []), *([spec["spec"]] if "spec" in spec else [])):
        yield from _views(inner)
