import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful.verdict.criteria import CALIBRATED, CRITERIA, read_thresholds
from heedful.verdict.rule import ALIKE, DISAGREE, NOT_DELETED, POSSIBLE, class_answer, determined, judge
from heedful.verdict.signals import signals
from heedful.verdict.verdict import Criterion, Outcome, Verdict
from heedful.verdict.wording import COINCIDENCE, NOT_NEEDED, NOTHING
from tests.strategies import examples
from tests.verdict.signalling import BAD, CLASSES, GOOD, by_class, signalled

SHARES = st.one_of(st.none(), st.floats(0, 1))
UPWARDS = ("necessity", "sufficiency", "swap", "weights", "truth")
ORDER = {"no": 0, "with caution": 1, "not determined": 1, "yes": 2}


@st.composite
def some_signals(draw: st.DrawFn) -> pl.DataFrame:
    n = draw(st.integers(0, 60))
    columns = {name: draw(st.lists(SHARES, min_size=n, max_size=n)) for name in GOOD}
    level = draw(st.sampled_from(["input", "attention"]))
    return signalled(n, level=level, **columns)


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {criterion.name: criterion.outcome for criterion in verdict.criteria}


def test_good_and_bad() -> None:
    good, bad = judge(signalled(), classes=CLASSES), judge(signalled(**BAD), classes=CLASSES)
    assert good.answer == "yes"
    assert {*outcomes(good).values()} == {"met"}
    assert [each.answer for each in good.classes] == ["yes", "yes"]
    assert good.answers == {"yes": 120, "with caution": 0, "no": 0, "not determined": 0}
    assert good.contradicting == 0
    assert good.better is None
    assert bad.answer == "no"
    assert {each.outcome for each in bad.criteria if each.decisive} == {"not met"}
    assert bad.better is not None
    assert bad.better.method == "leave_one_out"
    assert bad.better.by == pytest.approx(0.45)
    assert bad.instances["answer"].unique().to_list() == ["no"]


@pytest.mark.parametrize("spec", [spec for spec in CRITERIA if "input" in spec.levels], ids=lambda spec: spec.name)
def test_each_criterion_alone_prevents_a_yes(spec: Any) -> None:
    verdict = judge(signalled(**{spec.name: 0.0}))
    assert [name for name, outcome in outcomes(verdict).items() if outcome == "not met"] == [spec.name]
    why = {"necessity": NOT_NEEDED, "weights": COINCIDENCE}  # words that suffice and take the decision with them
    assert verdict.answer == ("with caution" if spec.name in why else "no")
    assert why.get(spec.name, spec.failure) in verdict.words
    untested = judge(signalled(**{spec.name: None}))
    assert untested.answer == (
        "yes" if spec.optional or spec.name in ("necessity", "sufficiency") else "not determined"
    )


def test_between_the_thresholds_it_is_with_caution() -> None:
    bar = CALIBRATED.criteria["swap"]
    middle = [bar.failed / 2 + bar.met / 2] * 2000
    verdict = judge(signalled(2000, swap=middle))
    assert outcomes(verdict)["swap"] == "between"
    assert verdict.answer == "with caution"


def test_a_class_is_determined_where_open_criteria_make_no_difference() -> None:
    bar = CALIBRATED.criteria["weights"]
    near = [bar.failed] * 240  # on which side of `failed` cannot be told, but it is below `met`
    verdict = judge(signalled(240, weights=near))
    assert outcomes(verdict)["weights"] == "at most between"
    assert verdict.answer == "with caution"
    assert determined(verdict)
    assert "the highlighted words are the right ones, but the model decides through" in verdict.words
    unsure = judge(signalled(240, weights=near, necessity=CALIBRATED.criteria["necessity"].met))
    assert outcomes(unsure)["necessity"] == "at least between"
    assert unsure.answer == "with caution"
    assert "the right ones, at least in part" in unsure.words
    assert judge(signalled(240, necessity=CALIBRATED.criteria["necessity"].met)).answer == "not determined"


def test_an_answer_is_never_one_that_open_criteria_could_still_change() -> None:
    """Against every way in which open outcomes may turn out."""
    criteria = [each for each in judge(signalled()).criteria if each.decisive and each.name != "truth"]
    definite = ("met", "between", "not met")
    answers = {
        combination: class_answer(_with(criteria, combination), "input") for combination in product(definite, repeat=4)
    }
    assert {*answers.values()} == {"yes", "with caution", "no"}
    for combination in product((*definite, *POSSIBLE), repeat=4):
        told = class_answer(_with(criteria, combination), "input")
        ends = {answers[end] for end in product(*(POSSIBLE.get(outcome, (outcome,)) for outcome in combination))}
        assert ({told} == ends) if len(ends) == 1 else (told == "not determined")


def _with(criteria: Sequence[Criterion], outcomes: Sequence[Outcome]) -> list[Criterion]:
    return [replace(each, outcome=outcome) for each, outcome in zip(criteria, outcomes, strict=True)]


def test_few_texts_determine_nothing_and_it_is_said_how_many_would() -> None:
    for kind in (GOOD, BAD):
        verdict = judge(signalled(4, **kind))
        assert verdict.answer == "not determined"
        assert verdict.more is not None
        assert f"About {verdict.more} more texts" in verdict.words
        assert not determined(verdict)


def test_a_class_in_which_nothing_can_be_won_is_named_and_not_judged() -> None:
    default = by_class(signalled(), 0, necessity=None, sufficiency=None, weights=None, swap=0.0)
    verdict = judge(default, classes=CLASSES)
    assert [each.answer for each in verdict.classes] == ["not determined", "yes"]
    assert verdict.classes[0].words == NOTHING
    assert verdict.answer == "yes"
    assert 'Not determined for texts decided "negative"' in verdict.words
    assert determined(verdict)
    assert verdict.instances.filter(decision=0)["answer"].unique().to_list() == ["not determined"]
    rare = judge(default, classes=CLASSES, population={0: 900, 1: 100})
    assert rare.answer == "not determined"


def test_a_class_that_fails_forbids_a_yes_however_rare() -> None:
    decision = [int(index >= 40) for index in range(1000)]
    one = by_class(signalled(1000, decision=decision), 0, sufficiency=0.0)
    verdict = judge(one, classes=CLASSES)
    assert outcomes(verdict)["sufficiency"] == "met"
    assert verdict.answer == "no"
    assert 'in texts decided "negative"' in verdict.words


def test_of_evidence_it_is_no_or_not_determined() -> None:
    verdict = judge(signalled(level="attention"))
    assert (verdict.answer, verdict.limits) == ("not determined", (NOT_DELETED,))
    assert verdict.instances["answer"].unique().to_list() == ["not determined"]
    for name in ("shuffling", "zeroing"):
        assert judge(signalled(600, level="attention", **{name: 0.0})).answer == "no"
    words = judge(signalled(level="attention", swap=0.0, sufficiency=0.0))
    assert words.answer == "not determined", "nothing at the input may count"


def test_texts_that_are_all_decided_alike() -> None:
    verdict = judge(signalled(decision=[1] * 120, swap=None))
    assert verdict.answer == "not determined"
    assert ALIKE in verdict.limits


def test_deleting_and_masking_must_agree() -> None:
    verdict = judge(signalled(masked_sufficiency=0.0))
    assert verdict.answer == "with caution"
    assert DISAGREE in verdict.limits


def test_nothing_tested() -> None:
    for nothing in (signals({}), signalled(50, **dict.fromkeys(GOOD))):
        verdict = judge(nothing)
        assert verdict.answer == "not determined"
        assert {*outcomes(verdict).values()} == {"untested"}
        assert not verdict.tested
        assert not len(verdict.instances), "texts that were not tested have no answer"


def test_a_text_has_its_own_answer() -> None:
    columns: dict[str, list[float | None]] = {
        "necessity": [0.9, 0.0, 0.9, 0.9, None, 0.9],
        "sufficiency": [0.9, 0.0, 0.9, 0.9, None, 0.9],
        "swap": [0.9, 0.9, 0.0, 0.9, 0.9, 0.9],
        "weights": [0.9, 0.9, 0.9, 0.0, None, None],
    }
    answers = judge(signalled(6, **columns)).instances["answer"].to_list()
    assert answers == ["yes", "no", "no", "with caution", "not determined", "not determined"]


@examples(25)
@given(some_signals(), st.randoms())
def test_order_does_not_matter(found: pl.DataFrame, random: Any) -> None:
    rows = list(range(len(found)))
    random.shuffle(rows)
    first, second = judge(found), judge(found[rows])
    assert second.to_json() == first.to_json()
    assert_frame_equal(second.instances.sort("id"), first.instances.sort("id"))


@examples(25)
@given(some_signals(), st.sampled_from(UPWARDS), st.floats(0, 1))
def test_better_shares_never_worsen_a_texts_answer(found: pl.DataFrame, column: str, by: float) -> None:
    raised = found.with_columns((pl.col(column) + by).clip(upper_bound=1.0))
    answers = zip(judge(found).instances["answer"], judge(raised).instances["answer"], strict=True)
    assert all(ORDER[later] >= ORDER[sooner] for sooner, later in answers)


@examples(25)
@given(some_signals())
def test_json_and_back(found: pl.DataFrame) -> None:
    verdict = judge(found)
    written = json.dumps(verdict.to_json(), allow_nan=False)
    back = Verdict.from_json(json.loads(written), verdict.table)
    assert json.dumps(back.to_json()) == written
    assert_frame_equal(back.instances, verdict.instances)


def test_thresholds_are_plain_data_with_their_origin() -> None:
    told = read_thresholds()
    assert told == CALIBRATED
    assert told.provenance["command"] == "python -m benchmarks.calibration"
    assert all(0 < bar.failed < bar.met < 1 for bar in told.criteria.values())
