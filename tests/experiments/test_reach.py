from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from heedful.errors import BadConfig, BadInput
from heedful.evidence import decide
from heedful.experiments import reach
from tests.making import awkward_evidence, instance, make_evidence


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 5]))
def test_no_random_attention_goes_beyond_the_reach(seed: int, outputs: int) -> None:
    evidence = make_evidence(seed, n=6, outputs=outputs)
    frame = reach(evidence)
    draw = np.random.default_rng(seed)
    changed = np.zeros(len(evidence), dtype=bool)
    lowest, highest = (np.stack(frame[name].to_list()) for name in ("lowest", "highest"))
    for _ in range(50):
        drawn = [draw.dirichlet(np.full(size, 0.2)) for size in evidence.weights.lengths]
        output = evidence.decode(evidence.weights.like(np.concatenate(drawn)))
        changed |= decide(output) != evidence.decisions
        assert np.all(output >= lowest - 1e-9)
        assert np.all(output <= highest + frame["gap"].to_numpy()[:, None] + 1e-9)
    assert not np.any(changed & ~frame["can_change"].to_numpy())


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 5]))
def test_some_single_item_does_what_reach_promises(seed: int, outputs: int) -> None:
    evidence = make_evidence(seed, n=6, outputs=outputs) if seed % 5 else awkward_evidence(outputs)
    frame = reach(evidence)
    for row, size in enumerate(evidence.weights.lengths):
        one = evidence.slice(row, row + 1)
        alone = np.concatenate([one.decode(one.weights.like(np.eye(size)[item])) for item in range(size)])
        assert frame["can_change"][row] == bool(np.any(decide(alone) != one.decisions[0]))
        assert np.allclose(frame["lowest"][row], alone.min(axis=0))
        if outputs <= 2:
            assert np.allclose(frame["highest"][row], alone.max(axis=0))
            assert frame["gap"][row] == 0


@pytest.mark.parametrize("classes", [3, 5])
def test_the_greatest_probability_of_many_classes_is_the_convex_programs(classes: int) -> None:
    evidence = make_evidence(3, n=12, outputs=classes, longest=9)
    frame = reach(evidence)
    assert evidence.scores is not None
    assert evidence.bias is not None
    assert frame["gap"].max() < 1e-6
    for row in range(len(evidence)):
        alone = evidence.scores[row].astype(np.float64) + evidence.bias[row]
        for k in range(classes):
            free = minimize(  # weights as a softmax of free numbers
                lambda free, alone=alone, k=k: -log_softmax(softmax(free) @ alone)[k], np.zeros(len(alone)), tol=1e-12
            )
            assert frame["highest"][row][k] >= np.exp(-free.fun) - 1e-6


def test_few_iterations_leave_a_gap_that_covers_the_truth() -> None:
    evidence = make_evidence(5, n=20, outputs=4, longest=12)
    rough, fine = reach(evidence, iterations=2), reach(evidence, iterations=500)
    for low, gap, high in zip(rough["highest"], rough["gap"], fine["highest"], strict=True):
        assert np.all(np.array(low) <= np.array(high) + 1e-9)
        assert np.all(np.array(high) <= np.array(low) + gap + 1e-9)
    assert rough["gap"].max() > fine["gap"].max()


def test_ties_go_to_the_lower_class() -> None:
    # the second item says "tie", which decides for class 0
    assert reach(instance([1.0, 0.0], [1.0, 0.0]))["can_change"].to_list() == [True]
    assert reach(instance([1.0, 0.0], [-1.0, 0.0]))["can_change"].to_list() == [False]
    assert reach(instance([0.5, 0.5], [0.0, 0.0]))["can_change"].to_list() == [False]


def test_a_single_item_leaves_no_choice() -> None:
    frame = reach(awkward_evidence(3))
    assert not frame["can_change"][0]
    assert np.allclose(frame["lowest"][0], frame["highest"][0])


def test_evidence_without_scores_is_refused_by_the_column() -> None:
    evidence = make_evidence()
    with pytest.raises(BadInput, match="'scores'"):
        reach(type(evidence)(evidence.ids, evidence.tokens, evidence.weights, evidence.output))


def test_huge_scores_leave_no_nan() -> None:
    evidence = make_evidence(1, n=40, outputs=5, longest=11)
    assert evidence.scores is not None
    huge = replace(evidence, scores=evidence.scores.like(evidence.scores.values * 1e6))
    huge = replace(huge, output=huge.decode(huge.weights))
    for iterations in (0, 3, 200):
        frame = reach(huge, iterations=iterations)
        assert not frame["gap"].is_nan().any()
        assert not frame["highest"].explode().is_nan().any()


@pytest.mark.parametrize("iterations", [-1, 1.5])
def test_iterations_are_a_whole_number(iterations: float) -> None:
    with pytest.raises(BadConfig, match="iterations = "):
        reach(make_evidence(outputs=3), iterations=iterations)  # type: ignore[arg-type]
