from dataclasses import replace

import numpy as np
import pytest

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.experiments import EXPERIMENTS, correlation, permutation, reach, violation
from heedful.experiments import experiment as bounded
from heedful.experiments.affine_view import AffineView
from heedful.experiments.view import first_best
from heedful.ragged import Ragged
from tests.making import instance, make_evidence, make_importance

ON_EVIDENCE = {name: each for name, each in EXPERIMENTS.items() if each.function is not None}


def test_sums_that_differ_by_rounding_alone_are_ties_and_others_are_not() -> None:
    sizes = np.ones((4, 2))
    logits = np.array([[1.0, 1.0], [1.0, 1 + 1e-12], [1.0, 1 + 1e-11], [1 + 1e-11, 1.0]])
    assert first_best(logits, sizes).tolist() == [0, 0, 1, 0]


def test_the_lowest_class_wins_ties() -> None:
    assert first_best(np.array([[0.0, 2.0, 2.0]]), np.array([[0.0, 2.0, 2.0]])).tolist() == [1]


def test_weights_that_are_off_by_a_little_are_normalised() -> None:
    off = instance([0.50004, 0.50004], [3.0, 3.0], bias=-3.0)
    margins = AffineView.of(off)
    assert margins.weights.sum().tolist() == [1.0]
    assert margins.decided.tolist() == [0]  # a tie
    assert permutation(off)["lowest"].to_list() == pytest.approx([0.5])


def test_every_experiment_speaks_of_the_same_decision() -> None:
    near = instance([0.5, 0.5], [1e-9, 1e-9])  # its output rounds to one half in single precision
    near = replace(near, output=near.output.astype(np.float32), truth=near.weights.like(np.array([True, False])))
    importance = make_importance(near)
    for name, experiment in ON_EVIDENCE.items():
        given = (near, importance) if name == "correlation" else (near,)
        assert experiment(*given)["decision"].to_list() == [1], name


def test_one_item_leaves_no_choice_even_in_a_chain_of_near_ties() -> None:
    rows = Ragged.from_rows([[1.0]])
    evidence = Evidence(
        ["only"],
        rows.like(np.array(["x"], dtype=object)),
        rows,
        np.full((1, 3), 1 / 3),
        rows.like(np.array([[1.0, 1 + 1.5e-12, 1 + 3e-12]])),
        np.zeros((1, 3)),
    )
    assert reach(evidence)["can_change"].to_list() == [False]
    assert violation(evidence)["violates"].to_list() == [False]


def test_slices_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = make_evidence(2, n=30)
    whole = permutation(evidence, permutations=5)
    seen = []
    monkeypatch.setattr(bounded, "ITEMS", 7)
    original = Evidence.validate
    monkeypatch.setattr(Evidence, "validate", lambda part: seen.append(part) or original(part))
    assert permutation(evidence, permutations=5).equals(whole)
    assert max(len(part.weights.values) for part in seen) <= 7
    assert sum(len(part) for part in seen) == len(evidence)


@pytest.mark.parametrize(
    ("weights", "words"),
    [([float("nan"), 0.5], "NaN"), ([-0.5, 1.5], "negative"), ([0.3, 0.3], "sum to 0.6"), ([0.0, 0.0], "sum to 0")],
)
def test_evidence_made_in_memory_is_checked_too(weights: list[float], words: str) -> None:
    good = instance([0.5, 0.5], [1.0, 2.0])
    bad = replace(good, weights=good.weights.like(np.array(weights)), truth=good.weights.like(np.array([True, False])))
    for name, experiment in ON_EVIDENCE.items():
        with pytest.raises(BadInput, match=f"instance 'only'.*{words}"):
            experiment(bad, make_importance(good)) if name == "correlation" else experiment(bad)


def test_correlation_needs_no_scores() -> None:
    evidence = make_evidence(1)
    bare = replace(evidence, scores=None, bias=None)
    assert len(correlation(bare, make_importance(bare))) == len(evidence)
