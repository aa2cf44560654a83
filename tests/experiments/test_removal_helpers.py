"""What is made of the frame of `removal`: scores, wins, and who never changes."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from heedful.errors import BadConfig, BadInput
from heedful.experiments import flip_table, never_flipped, removal, removal_scores, removal_wins, single_weight
from heedful.experiments.rankings import ORDERINGS, RANKINGS
from heedful.measures import bootstrap, holm, sign_test
from tests.making import make_evidence


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return removal(make_evidence(3, n=200, outputs=3, longest=9), orders=3)


def test_scores_are_plain_means_over_instances_with_several_items(frame: pl.DataFrame) -> None:
    scores = removal_scores(frame, draws=50)
    several = frame.filter(frame["items"] > 1)
    assert scores["ranking"].to_list() == list(RANKINGS)
    assert scores["n"].unique().to_list() == [len(several)] != [len(frame)]
    for row in scores.filter(pl.col("ranking") != "random").iter_rows(named=True):
        name = row["ranking"]
        count, least = several[f"{name}_count"], several["optimal_count"]
        assert row["never"] == count.null_count()
        for figure in ("fraction", "mass"):
            values = several[f"{name}_{figure}"]
            assert row[figure] == pytest.approx(values.mean())
            assert row[f"{figure}_std"] == pytest.approx(values.std(ddof=0))
            assert row[f"{figure}_all"] == pytest.approx(values.fill_null(1.0).mean())
            interval = bootstrap(values.fill_null(np.nan).to_numpy(), seed=0, draws=50)
            assert (row[f"{figure}_low"], row[f"{figure}_high"]) == pytest.approx(interval)
        assert row["excess"] == pytest.approx((count - least).mean())
        assert row["optimal"] == pytest.approx((count == least).fill_null(False).filter(least.is_not_null()).mean())


def test_random_scores_are_over_all_orders(frame: pl.DataFrame) -> None:
    row = removal_scores(frame, draws=0).row(by_predicate=pl.col("ranking") == "random", named=True)
    several = frame.filter(frame["items"] > 1)
    shares = [
        [1.0 if count is None else count / items for count in counts]
        for counts, items in several.select("random_counts", "items").iter_rows()
    ]
    assert row["fraction_all"] == pytest.approx(np.mean(shares))
    assert row["never"] == pytest.approx(several["random_counts"].explode().null_count() / 3)
    assert row["fraction_low"] is None


def test_wins_are_counted_instance_by_instance(frame: pl.DataFrame) -> None:
    table = removal_wins(frame, draws=50)
    several = frame.filter(frame["items"] > 1)
    assert list(zip(table["first"], table["second"], strict=True)) == list(combinations(ORDERINGS, 2))
    for row in table.iter_rows(named=True):
        outcomes = {"first_wins": 0, "second_wins": 0, "ties": 0, "neither": 0}
        for one, other in several.select(f"{row['first']}_count", f"{row['second']}_count").iter_rows():
            if one is None and other is None:
                outcomes["neither"] += 1
            elif other is None or (one is not None and one < other):
                outcomes["first_wins"] += 1
            elif one is None or other < one:
                outcomes["second_wins"] += 1
            else:
                outcomes["ties"] += 1
        assert {name: row[name] for name in outcomes} == outcomes
        assert row["n"] == len(several) - outcomes["neither"]
        assert row["share"] == pytest.approx(outcomes["first_wins"] / row["n"])
        assert row["low"] <= row["share"] <= row["high"]
        for side in ("first", "second"):  # of all, those that neither changes included
            assert row[f"{side}_all"] == pytest.approx(outcomes[f"{side}_wins"] / len(several))
            assert row[f"{side}_all_low"] <= row[f"{side}_all"] <= row[f"{side}_all_high"]
        sides = [0] * outcomes["first_wins"] + [2] * outcomes["second_wins"]
        assert row["p_value"] == pytest.approx(sign_test(sides, [1] * len(sides)).p_value)
    assert np.allclose(table["p_holm"], holm(table["p_value"]))


def test_wins_may_be_of_some_instances_only(frame: pl.DataFrame) -> None:
    only = frame["items"] > 4
    some = removal_wins(frame, only=only, draws=0)
    assert some.equals(removal_wins(frame.filter(only), draws=0))
    for wrong in (pl.Series([True]), pl.Series([1] * len(frame))):
        with pytest.raises(BadInput, match=r"only: .*give one truth value an instance"):
            removal_wins(frame, only=wrong)


def test_only_the_default_decision_never_changes(frame: pl.DataFrame) -> None:
    table = never_flipped(frame)
    overall, several = table.row(0, named=True), frame.filter(frame["items"] > 1)
    never = several.filter(several["attention_count"].is_null())
    assert overall["decision"] is None
    assert overall["never"] == len(never) == table["never"][1:].sum() > 0
    assert overall["default"] == 1
    assert overall["share"] == pytest.approx(len(never) / len(several))
    assert overall["confidence_never"] == pytest.approx(never["confidence"].mean())
    assert overall["entropy_rest"] == pytest.approx(
        several.filter(several["attention_count"].is_not_null())["entropy"].mean()
    )
    assert table["n"][1:].sum() == overall["n"] == len(several)
    with pytest.raises(BadConfig, match="unknown ranking 'best'; valid: ascending, attention"):
        never_flipped(frame, ranking="best")


def test_decoders_that_are_not_affine_have_no_optimum() -> None:
    frame = removal(make_evidence(3, n=60, outputs=3, longest=9, decoder="tanh"))
    scores = removal_scores(frame, draws=0)
    assert scores["ranking"].to_list() == list(ORDERINGS)
    assert scores["excess"].null_count() == scores["optimal"].null_count() == len(scores)
    assert (never_flipped(frame)["default"].drop_nulls() == 1).all()


def test_nothing_and_single_items_have_scores_without_values() -> None:
    for evidence in (make_evidence(n=0), make_evidence(longest=1)):
        frame = removal(evidence)
        assert removal_scores(frame)["n"].unique().to_list() == [0]
        assert removal_wins(frame)["share"].null_count() == 15
        assert never_flipped(frame)["n"].to_list() == [0]


def test_frames_of_other_experiments_are_refused() -> None:
    evidence = make_evidence(1)
    removed, single = removal(evidence), single_weight(evidence)
    for helper, frame in ((flip_table, removed), (removal_scores, single), (never_flipped, single)):
        with pytest.raises(BadInput, match=r"the frame of `(single_weight|removal)` is needed, and this one has no"):
            helper(frame)
    with pytest.raises(BadInput, match="the frame of `removal` is needed, as a polars DataFrame, and not Evidence"):
        removal_wins(evidence)  # type: ignore[arg-type]


def test_instances_may_be_picked_by_a_list() -> None:
    removed = removal(make_evidence(1, n=8))
    picked = [True, False] * 4
    assert_frame_equal(removal_wins(removed, only=picked), removal_wins(removed, only=pl.Series(picked)))
