import math

import polars as pl
import pytest

from benchmarks.calibration.planted import Plan, Planted
from heedful.errors import HeedfulError
from heedful.experiments import EXPERIMENTS
from heedful.verdict.signals import level_of, methods_of, signals

PERMUTATION = pl.DataFrame({"id": ["a", "b"], "median": [0.1, 0.2], "changed": [0.0, 0.5]})
SUBSTITUTION = pl.DataFrame({"id": ["b", "a"], "uniform_tvd": [0.4, 0.3], "uniform_changed": [True, False]})
ERASURE = pl.DataFrame(
    {
        "id": ["a"],
        "items": [7],
        "delete_attention_comprehensiveness": [0.5],
        "delete_attention_comprehensiveness_at": [[-0.2, 0.6]],
        "delete_random_comprehensiveness": [0.1],
        "delete_my_own_method_comprehensiveness": [0.4],
        "blank_attention_comprehensiveness": [9.0],
        "delete_attention_sufficiency": [9.0],
    }
)
ERASED = pl.DataFrame(
    {"id": ["a", "b"], "violates": [False, True], "erased_fall": [0.3, -0.1], "random_fall": [7.0, 7.0]}
)
CURVES = pl.DataFrame(
    {
        "id": ["a", "b"],
        "items": [3, 1],
        "attention_comprehensiveness": [0.4, 0.9],
        "attention_comprehensiveness_at": [[0.3], [0.9]],
        "random_comprehensiveness": [0.2, 0.9],
        "ascending_comprehensiveness": [0.0, 0.0],
        "contribution_comprehensiveness": [0.5, 0.9],
    }
)


def row(frame: pl.DataFrame, name: str) -> dict[str, object]:
    return frame.row(by_predicate=pl.col("id") == name, named=True)


def test_tests_are_joined_by_instance() -> None:
    found = signals({"permutation": PERMUTATION, "substitution": SUBSTITUTION})
    assert found["id"].to_list() == ["a", "b"]
    assert row(found, "b") | {"lead": 0} == {
        "id": "b",
        "level": "attention",
        "permuted_tvd": 0.2,
        "permuted_changed": 0.5,
        "replaced_tvd": 0.4,
        "replaced_changed": True,
        "lead": 0,
        "against": None,
        "attention_fall": None,
        "random_fall": None,
    }


def test_a_race_at_the_input_names_its_methods_and_leaves_the_rest_untested() -> None:
    found = signals({"permutation": PERMUTATION, "erasure": ERASURE, "curves": CURVES})
    assert methods_of(found) == ["my_own_method"]
    a, b = row(found, "a"), row(found, "b")
    assert (a["level"], a["attention_fall"], a["random_fall"], a["my_own_method_fall"]) == ("input", 0.5, 0.1, 0.4)
    assert a["lead"] == pytest.approx(0.4)
    assert a["against"] is True
    assert b["attention_fall"] is None, "figures of the attention must not fill those of the input"


def test_the_most_attended_item_is_erased_from_all_texts_not_only_from_the_races_sample() -> None:
    found = signals({"erasure": ERASURE, "violation": ERASED}).sort("id")
    assert found["against"].to_list() == [False, True]
    assert found["random_fall"].to_list() == [0.1, None]


def test_without_a_race_the_rest_of_the_input_is_still_told() -> None:
    found = signals({"violation": ERASED, "curves": CURVES})
    assert found["level"].unique().to_list() == ["input"]
    assert found["against"].to_list() == [False, None], "the second has one item only"
    assert found["lead"].to_list() == [None, None], "figures of the attention must not fill those of the input"


def test_of_evidence_the_race_is_at_the_attention() -> None:
    found = signals({"curves": CURVES, "violation": ERASED.select("id", "violates")})
    a, b = row(found, "a"), row(found, "b")
    assert methods_of(found) == ["contribution"]
    assert (a["level"], a["against"], a["contribution_fall"]) == ("attention", False, 0.5)
    assert a["lead"] == pytest.approx(0.2)
    assert {name for name, value in b.items() if value is not None} == {"id", "level"}, "it has one item only"


def test_undefined_is_null() -> None:
    frame = pl.DataFrame({"id": ["a"], "median": [math.nan], "changed": [None]})
    assert signals({"permutation": frame})["permuted_tvd"].to_list() == [None]


def test_nothing_tested() -> None:
    found = signals({})
    assert len(found) == 0
    assert {"id", "level", "permuted_tvd", "lead", "against", "attention_fall"} <= {*found.columns}


def test_a_frame_of_something_else_is_refused() -> None:
    with pytest.raises(HeedfulError, match="median"):
        signals({"permutation": SUBSTITUTION})


def test_experiments_on_evidence_have_what_signals_ask_for() -> None:
    evidence = Planted(Plan(instances=5)).evidence()
    frames = {name: EXPERIMENTS[name](evidence) for name in ("permutation", "substitution", "curves")}
    assert level_of(frames) == "attention"
    found = signals(frames)
    assert found["id"].to_list() == list(evidence.ids)
    assert found.null_count().row(0) == (0,) * len(found.columns)
    assert {"contribution", "gradient"} <= {*methods_of(found)}


def test_a_lead_within_rounding_is_none() -> None:
    close = ERASURE.with_columns(delete_random_comprehensiveness=pl.lit(0.497))
    assert signals({"erasure": close})["lead"].to_list() == [pytest.approx(0.003)]
    assert signals({"erasure": close}, rounding=0.0078)["lead"].to_list() == [0.0]
