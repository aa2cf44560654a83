"""That the rule tells planted attention apart: a few subjects here, hundreds in docs/audit-calibration.md."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.calibration.counting import Rate
from benchmarks.calibration.fitting import Family
from benchmarks.calibration.measuring import Case, case_of, cases_in, kept
from benchmarks.calibration.planted import UNFAITHFUL, Kind, Plan
from benchmarks.calibration.settings import FIXED, FIXED_SEEDS, UNSEEN, UNSEEN_SEEDS
from heedful.verdict.rule import judge

SETTING = Plan(encoder="recurrent", length=14, noise=0.15, deciding=2, instances=40)
SMEARED = replace(SETTING, encoder="selective", seed=1)


def planted(kind: Kind, plan: Plan) -> Case:
    return case_of(replace(plan, kind=kind, through=0.85 if kind in ("faithful", "shifted") else 0.1))


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [planted(kind, plan) for plan in (SETTING, SMEARED) for kind in ("faithful", *UNFAITHFUL)]


def test_faithful_attention_may_be_shown_and_no_other(cases: list[Case]) -> None:
    for case in cases:
        verdict = judge(case.signals["input"], seed=0)
        assert verdict.level == "input"
        assert verdict.answer == ("yes" if case.plan.faithful else "no"), (case.plan, verdict.words)


def test_the_better_map_is_named_where_attention_looks_elsewhere(cases: list[Case]) -> None:
    for case in cases:
        better = judge(case.signals["input"], seed=0).better
        assert (better is not None) == (case.plan.kind not in ("faithful", "unused")), case.plan


def test_evidence_alone_is_never_enough_for_a_yes_and_is_blind_to_shifted_states(cases: list[Case]) -> None:
    for case in cases:
        verdict = judge(case.signals["attention"], seed=0)
        assert verdict.level == "attention"
        blind = case.plan.kind in ("faithful", "shifted")
        assert verdict.answer == ("with caution" if blind else "no"), (case.plan, verdict.words)


def test_single_instances_follow_their_models(cases: list[Case]) -> None:
    for case in cases:
        answers = judge(case.signals["input"], seed=0).instances["answer"]
        right = "yes" if case.plan.faithful else "no"
        assert (answers == right).mean() > 0.6, case.plan


def test_thresholds_lie_between_both_sides(cases: list[Case]) -> None:
    family = Family.of(cases, "input")
    for name in ("permutation", "lead", "race", "replacement"):
        assert family.broken[name] < getattr(family.at(), name) < family.faithful[name]
    assert family.broken["against"] > family.at().against > family.faithful["against"]
    assert family.at(1.0).permutation == pytest.approx(family.faithful["permutation"], abs=1e-3)


def test_kept_signals_come_back(cases: list[Case]) -> None:
    back = list(cases_in(kept(cases[:2])))
    assert [case.plan for case in back] == [case.plan for case in cases[:2]]
    assert [case.found for case in back] == [case.found for case in cases[:2]]


def test_subjects_that_thresholds_are_fixed_on_are_not_those_they_are_tested_on() -> None:
    for name in ("length", "noise", "encoder", "blur", "sure"):
        assert not {getattr(s.plan, name) for s in FIXED} & {getattr(s.plan, name) for s in UNSEEN}
    shares = [{share for s in settings for share in (s.most, s.least)} for settings in (FIXED, UNSEEN)]
    assert not shares[0] & shares[1]
    for faithful in (True, False):
        assert not {*FIXED_SEEDS[faithful]} & {*UNSEEN_SEEDS[faithful]}
        assert len(UNSEEN_SEEDS[faithful]) >= 10


def test_rates_have_exact_intervals() -> None:
    assert Rate(0, 200).interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 200)))
    assert str(Rate(1, 2)).startswith("1 of 2 (1.3 to 98.7 %)")
    assert np.isclose(Rate(3, 4).share, 0.75)
