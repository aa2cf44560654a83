import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadConfig
from heedful.evidence import Evidence
from heedful.experiments.rankings import RANKINGS, Ranker, check_rankings, contributions, item_values, order_of
from heedful.experiments.views import view_of
from heedful.randomness import keys
from tests.experiments.removing import made, own_weights, two_classes
from tests.making import instance
from tests.strategies import examples

CASES = [(1, "affine"), (3, "affine"), (2, "tanh"), (5, "tanh")]


def slope(one: Evidence, item: int, of: int, step: float = 1e-5) -> float:
    """How fast the probability of a class grows with the weight of an item, by finite differences."""

    def probability(move: float) -> float:
        weights = own_weights(one).copy()
        weights[item] += move
        return float(two_classes(one.decode(one.weights.like(weights))[0])[of])

    return (probability(step) - probability(-step)) / (2 * step)


@pytest.mark.parametrize(("outputs", "decoder"), CASES)
@given(seed=st.integers(0, 10**6))
@examples(15)
def test_gradients_are_those_of_finite_differences(outputs: int, decoder: str, seed: int) -> None:
    evidence = made(seed, outputs, decoder)  # type: ignore[arg-type]
    view = view_of(evidence)
    values = {name: item_values(view, name) for name in ("gradient", "gradient_attention")}
    for row in range(len(evidence)):
        one, decided = evidence.slice(row, row + 1), int(view.decided[row])
        p = view.output[row, decided]
        for item, weight in enumerate(view.weights[row]):
            expected = slope(one, item, decided)
            assert p * (1 - p) * values["gradient"][row][item] == pytest.approx(expected, abs=1e-6)
            assert p * (1 - p) * values["gradient_attention"][row][item] == pytest.approx(weight * expected, abs=1e-6)


@pytest.mark.parametrize(("outputs", "decoder"), CASES)
@given(seed=st.integers(0, 10**6))
@examples(15)
def test_contributions_add_up_to_the_margin_over_the_strongest_rival(outputs: int, decoder: str, seed: int) -> None:
    evidence = made(seed, outputs, decoder)  # type: ignore[arg-type]
    view = view_of(evidence)
    given = contributions(view)
    for row, decided in enumerate(view.decided):
        logits = view.logits[row]
        rivals = np.delete(logits, decided)
        margin = logits[decided] - rivals.max() if np.isfinite(rivals.max()) else 0.0
        assert given[row].sum() == pytest.approx(margin, abs=1e-9)
        if decoder == "affine":
            strongest = np.delete(np.arange(len(logits)), decided)[rivals.argmax()]
            alone = view.alone[row]  # type: ignore[union-attr]
            plain = view.weights[row] * (alone[:, decided] - alone[:, strongest])
            assert given[row] == pytest.approx(plain, abs=1e-9)


def test_a_saturated_output_leaves_the_order_of_gradients() -> None:
    evidence = instance([0.2, 0.3, 0.5], [900.0, 1000.0, 800.0])
    view = view_of(evidence)
    assert view.output[0, 1] == 1  # its gradients are all zero in double precision
    assert Ranker(view, "gradient", keys(evidence.ids), 0).orders(np.array([0])).tolist() == [[1, 0, 2]]


def test_the_greatest_comes_first_and_ties_keep_their_order() -> None:
    values, mask = (
        np.array([[1.0, 2.0, 1.0, 2.0], [-1.0, 0.0, 9.0, 9.0]]),
        np.array([[True] * 4, [True, True] + [False] * 2]),
    )
    assert order_of(values, mask).tolist() == [[1, 3, 0, 2], [1, 0, 2, 3]]


def test_a_random_order_belongs_to_its_instance() -> None:
    evidence = made(1, 3, "affine")
    view, rows = view_of(evidence), np.arange(len(evidence))
    whole = Ranker(view, "random", keys(evidence.ids), 7).orders(rows, 2)
    for row, size in enumerate(evidence.weights.lengths):
        one = evidence.slice(row, row + 1)
        alone = Ranker(view_of(one), "random", keys(one.ids), 7).orders(np.array([0]), 2)
        assert whole[row, :size].tolist() == alone[0].tolist()
        assert sorted(alone[0]) == list(range(size))


def test_rankings_are_named() -> None:
    assert check_rankings(["random", "attention", "random"]) == ("attention", "random")
    with pytest.raises(BadConfig, match=r"unknown ranking 'gradients' \(did you mean 'gradient'\?\); valid: ascending"):
        check_rankings(["gradients"])
    with pytest.raises(BadConfig, match="no ranking is named; choose from attention"):
        check_rankings([])
    with pytest.raises(BadConfig, match="rankings = 'attention': give a list of names"):
        check_rankings("attention")
    with pytest.raises(BadConfig, match="unknown ranking 'optimal'"):
        item_values(view_of(made(1, 3, "affine")), RANKINGS[-1])
