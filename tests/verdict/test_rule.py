import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful.verdict.criteria import CALIBRATED, CRITERIA, read_thresholds
from heedful.verdict.rule import FEW, judge
from heedful.verdict.signals import signals
from heedful.verdict.verdict import Verdict
from tests.strategies import examples
from tests.verdict.signalling import BAD, GOOD, signalled

ORDER = {"no": 0, "with caution": 1, "yes": 2}
SHARES = st.floats(0, 1)
UPWARDS = ("permuted_tvd", "replaced_tvd", "lead", "attention_fall")


@st.composite
def some_signals(draw: Any) -> pl.DataFrame:
    n = draw(st.sampled_from([1, 40]))

    def column(values: Any) -> list[Any]:
        """A few values in turn, of all instances, of every other one or of none."""
        pattern = draw(st.lists(values, min_size=1, max_size=3))
        tested = draw(st.sampled_from([1, 1, 1, 2, n + 1]))
        return [pattern[index % len(pattern)] if (index + 1) % tested == 0 else None for index in range(n)]

    falls = {name: column(SHARES) for name in ("attention_fall", "random_fall", "leave_one_out_fall")}
    return signalled(
        n,
        level=draw(st.sampled_from(["input", "attention"])),
        permuted_tvd=column(SHARES),
        replaced_tvd=column(SHARES),
        lead=column(st.floats(-1, 1)),
        against=column(st.booleans()),
        **falls,
    )


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {criterion.name: criterion.outcome for criterion in verdict.criteria}


def test_good_and_bad() -> None:
    good, bad = judge(signalled(), seed=0), judge(signalled(**BAD), seed=0)
    assert good.answer == "yes"
    assert {*outcomes(good).values()} == {"met"}
    assert good.better is None
    assert good.instances["answer"].unique().to_list() == ["yes"]
    assert good.instances["reasons"].list.len().sum() == 0
    assert bad.answer == "no"
    assert {*outcomes(bad).values()} == {"not met"}
    assert bad.better is not None
    assert bad.better.method == "leave_one_out"
    assert bad.better.by == pytest.approx(0.4)
    assert bad.instances["answer"].unique().to_list() == ["no"]


@pytest.mark.parametrize("spec", CRITERIA, ids=lambda spec: spec.name)
def test_each_criterion_alone_prevents_a_yes(spec: Any) -> None:
    columns = {
        "permutation": ["permuted_tvd"],
        "lead": ["lead"],
        "against": ["against"],
        "race": ["attention_fall"],
        "replacement": ["replaced_tvd"],
    }[spec.name]
    verdict = judge(signalled(**{name: BAD[name] for name in columns}), seed=0)
    assert [name for name, outcome in outcomes(verdict).items() if outcome == "not met"] == [spec.name]
    assert verdict.answer == ("no" if spec.decisive else "with caution")
    assert verdict.instances["reasons"][0].to_list() == [spec.failure]
    untested = judge(signalled(**dict.fromkeys(columns)), seed=0)
    assert outcomes(untested)[spec.name] == "untested"
    assert untested.answer == ("with caution" if spec.decisive else "yes")
    assert bool(untested.limits) == spec.decisive


def test_the_largest_divergence_that_adversaries_reach_is_no_criterion() -> None:
    with_it = signalled().with_columns(jsd=pl.lit(0.69), eps_max_jsd=pl.lit(0.69))
    first, second = judge(with_it, seed=0), judge(signalled(), seed=0)
    assert first.to_json() == second.to_json()
    assert_frame_equal(first.instances, second.instances)


def test_few_instances_are_never_enough_for_a_yes_nor_for_a_no() -> None:
    for kind in (GOOD, BAD):
        verdict = judge(signalled(FEW - 1, **kind), seed=0)
        assert verdict.answer == "with caution"
        assert {*outcomes(verdict).values()} == {"open"}
        assert any(str(FEW - 1) in limit for limit in verdict.limits)
    assert judge(signalled(FEW), seed=0).answer == "yes"


def test_at_the_attention_alone_it_is_never_yes() -> None:
    verdict = judge(signalled(level="attention"), seed=0)
    assert {*outcomes(verdict).values()} == {"met"}
    assert verdict.answer == "with caution"
    assert "no words were deleted" in verdict.words
    assert verdict.instances["answer"].unique().to_list() == ["with caution"]


def test_an_interval_over_the_threshold_is_open() -> None:
    bar = CALIBRATED.input.lead
    lead = [1.0 if index < bar * 40 else -1.0 for index in range(40)]
    verdict = judge(signalled(lead=lead), seed=0)
    assert outcomes(verdict)["lead"] == "open"
    assert verdict.answer == "with caution"


def test_where_no_order_beats_a_random_one_there_is_no_race() -> None:
    verdict = judge(signalled(attention_fall=0.1, leave_one_out_fall=0.1), seed=0)
    race = next(criterion for criterion in verdict.criteria if criterion.name == "race")
    assert (race.outcome, race.value, race.low) == ("open", None, None)
    assert verdict.answer == "with caution"


def test_nothing_tested() -> None:
    for nothing in (signals({}), signalled(50, **dict.fromkeys(GOOD))):
        verdict = judge(nothing, seed=0)
        assert verdict.answer == "with caution"
        assert {*outcomes(verdict).values()} == {"untested"}
        assert len(verdict.instances) == len(nothing)


def test_one_instance() -> None:
    verdict = judge(signalled(1), seed=0)
    assert verdict.answer == "with caution"
    assert "1 instance is too few" in verdict.criteria[0].words


@examples(25)
@given(some_signals(), st.randoms())
def test_order_does_not_matter(found: pl.DataFrame, random: Any) -> None:
    rows = list(range(len(found)))
    random.shuffle(rows)
    first, second = judge(found, seed=0), judge(found[rows], seed=0)
    assert second.instances["id"].to_list() == found[rows]["id"].to_list()
    assert second.to_json() == first.to_json()
    assert_frame_equal(second.instances.sort("id"), first.instances)


@examples(25)
@given(some_signals(), st.sampled_from(UPWARDS), st.floats(0, 1), st.booleans())
def test_better_signals_never_worsen_the_answer(found: pl.DataFrame, column: str, by: float, argues: bool) -> None:
    raised = found.with_columns((pl.col(column) + by).clip(upper_bound=1.0))
    if argues:
        raised = raised.with_columns(pl.col("against") & False)
    before, after = judge(found, seed=0), judge(raised, seed=0)
    assert ORDER[after.answer] >= ORDER[before.answer]
    answers = zip(before.instances["answer"], after.instances["answer"], strict=True)
    assert all(ORDER[later] >= ORDER[sooner] for sooner, later in answers)


@examples(25)
@given(some_signals())
def test_json_and_back(found: pl.DataFrame) -> None:
    verdict = judge(found, seed=0)
    written = json.dumps(verdict.to_json(), allow_nan=False)
    back = Verdict.from_json(json.loads(written), verdict.table)
    assert back.to_json() == verdict.to_json()
    assert_frame_equal(back.instances, verdict.instances)


@examples(25)
@given(some_signals())
def test_what_is_not_tested_is_said_so(found: pl.DataFrame) -> None:
    verdict = judge(found, seed=0)
    for criterion in verdict.criteria:
        assert (criterion.outcome == "untested") == (criterion.n == 0)
        assert criterion.value is None or criterion.low is not None


def test_thresholds_are_plain_data_with_their_origin() -> None:
    told = read_thresholds()
    assert told == CALIBRATED
    assert told.provenance["command"] == "python -m benchmarks.calibration"
