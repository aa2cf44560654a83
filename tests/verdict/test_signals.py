import math

import polars as pl
import pytest

from benchmarks.calibration.planted import Plan, Planted
from heedful.errors import HeedfulError
from heedful.experiments import EXPERIMENTS
from heedful.verdict.signals import COLUMNS, level_of, methods_of, scan_signals, signals

PERMUTATION = pl.DataFrame({"id": ["a", "b"], "decision": [0, 1], "median": [0.1, 0.2], "changed": [0.0, 0.5]})
HIGHLIGHTS = pl.DataFrame(
    {
        "id": ["a", "c", "one"],
        "decision": [0, 1, 1],
        "items": [7, 9, 1],
        "delete_necessity_attention": [0.5, 0.02, None],
        "delete_necessity_random": [0.1, 0.0, None],
        "delete_necessity_best": [0.9, 0.05, None],
        "delete_necessity_mine": [0.6, 0.0, None],
        "delete_sufficiency_attention": [0.4, 0.3, None],
        "delete_sufficiency_random": [0.6, 0.2, None],
        "delete_sufficiency_best": [0.2, 0.0, None],
        "delete_sufficiency_mine": [0.4, 0.0, None],
        "blank_necessity_attention": [0.2, 0.0, None],
        "blank_necessity_random": [0.1, 0.0, None],
        "blank_necessity_best": [0.3, 0.0, None],
        "blank_sufficiency_attention": [0.2, 0.0, None],
        "blank_sufficiency_random": [0.1, 0.0, None],
        "blank_sufficiency_best": [0.3, 0.0, None],
        "swap_attention": [0.6, 0.1, None],
        "swap_random": [0.1, 0.2, None],
        "swap_whole": [1.0, 0.5, None],
        "weights_attention": [0.25, 0.0, None],
        "weights_random": [0.0, 0.0, None],
    }
)
CURVES = pl.DataFrame(
    {
        "id": ["a", "b"],
        "items": [3, 1],
        "attention_comprehensiveness": [0.4, 0.9],
        "random_comprehensiveness": [0.2, 0.9],
        "ascending_comprehensiveness": [0.0, 0.0],
        "contribution_comprehensiveness": [0.6, 0.9],
    }
)


def row(frame: pl.DataFrame, name: str) -> dict[str, object]:
    return frame.row(by_predicate=pl.col("id") == name, named=True)


def test_shares_of_what_can_be_won() -> None:
    a = row(signals({"highlights": HIGHLIGHTS}), "a")
    assert a["level"] == "input"
    found = {name: a[name] for name in ("necessity", "sufficiency", "swap", "weights", "masked_necessity")}
    assert found == pytest.approx(
        {"necessity": 0.5, "sufficiency": 0.5, "swap": 0.5, "weights": 0.5, "masked_necessity": 0.5}
    )
    assert a["attention_gain"] == pytest.approx(0.3)
    assert a["mine_gain"] == pytest.approx(0.35)


def test_where_little_is_at_stake_there_is_no_share_and_none_is_below_zero() -> None:
    c = row(signals({"highlights": HIGHLIGHTS}), "c")
    assert (c["necessity"], c["weights"]) == (None, None)
    assert (c["sufficiency"], c["swap"]) == (0.0, 0.0)


def test_a_text_of_one_item_has_no_signals() -> None:
    one = row(signals({"highlights": HIGHLIGHTS}), "one")
    assert {name for name, value in one.items() if value is not None} == {"id", "level", "decision"}


def test_tests_are_joined_by_instance() -> None:
    found = signals({"permutation": PERMUTATION, "highlights": HIGHLIGHTS, "curves": CURVES.head(1)})
    assert sorted(found["id"]) == ["a", "b", "c", "one"]
    assert methods_of(found) == ["mine"], "methods at the attention must not stand beside those at the input"
    assert row(found, "b")["shuffling"] == 0.2
    assert row(found, "b")["swap"] is None


def test_of_evidence_the_race_is_at_the_attention() -> None:
    found = signals({"curves": CURVES, "permutation": PERMUTATION})
    a = row(found, "a")
    assert methods_of(found) == ["contribution"]
    assert (a["level"], a["zeroing"]) == ("attention", pytest.approx(0.5))
    assert row(found, "b")["zeroing"] is None, "it has one item only"


def test_known_truth_counts_where_it_decides() -> None:
    known = HIGHLIGHTS.with_columns(
        truth_mass=pl.Series([0.7, 0.1, None]), truth_decides=pl.Series([True, False, None])
    )
    assert signals({"highlights": known})["truth"].to_list() == [0.7, None, None]


def test_undefined_is_null() -> None:
    frame = pl.DataFrame({"id": ["a"], "median": [math.nan]})
    assert signals({"permutation": frame})["shuffling"].to_list() == [None]


def test_nothing_tested() -> None:
    for frames in ({}, {"highlights": pl.DataFrame(schema={"id": pl.String})}):
        found = signals(frames)
        assert len(found) == 0
        assert {"id", "level", *COLUMNS} <= {*found.columns}


def test_a_frame_of_something_else_is_refused() -> None:
    with pytest.raises(HeedfulError, match="median"):
        signals({"permutation": CURVES})
    with pytest.raises(HeedfulError, match="delete_necessity_attention"):
        signals({"highlights": CURVES})


def test_experiments_on_evidence_have_what_signals_ask_for() -> None:
    evidence = Planted(Plan(instances=5)).evidence()
    frames = {name: EXPERIMENTS[name](evidence) for name in ("permutation", "curves")}
    assert level_of(frames) == "attention"
    found = signals(frames)
    assert found.equals(scan_signals({name: frame.lazy() for name, frame in frames.items()}))
    assert found["id"].to_list() == list(evidence.ids)
    assert found["shuffling"].null_count() == 0
    assert {"contribution", "gradient"} <= {*methods_of(found)}
