from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadConfig
from heedful.evidence import Evidence, decide
from heedful.experiments import permutation
from heedful.experiments.affine_view import AffineView
from heedful.experiments.view import first_best
from heedful.measures import tvd
from heedful.randomness import Stream, keys
from tests.making import awkward_evidence, instance, make_evidence
from tests.strategies import examples


def outputs_of_every_order(evidence: Evidence, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Outputs (T!, K) and whether the decision changed (T!,), by trying them all."""
    one = evidence.slice(row, row + 1)
    margins = AffineView.of(one)
    tried = [np.array(order) for order in permutations(range(int(one.weights.lengths[0])))]
    weights = margins.weights.values
    output = np.concatenate([one.decode(one.weights.like(weights[order])) for order in tried])
    alone = margins.alone.values
    decided = [first_best(weights[order] @ alone, weights[order] @ np.abs(alone)) for order in tried]
    return output, np.array(decided) != margins.decided[0]


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 4]), st.booleans())
@examples(30)
def test_exact_answers_are_those_of_all_orders(seed: int, outputs: int, awkward: bool) -> None:
    evidence = make_evidence(seed, n=4, outputs=outputs, longest=5)
    if awkward:
        evidence = awkward_evidence(outputs)
    frame = permutation(evidence, permutations=3)
    for row in range(len(evidence)):
        output, changed = outputs_of_every_order(evidence, row)
        assert frame["can_change"][row] == changed.any()
        if outputs <= 2:
            assert frame["lowest"][row] == pytest.approx(output[:, -1].min())
            assert frame["highest"][row] == pytest.approx(output[:, -1].max())
            assert frame["worst"][row] == pytest.approx(tvd(output, output[:1]).max())
        else:
            assert frame["worst"][row] is None


@given(st.integers(0, 10**6), st.sampled_from([1, 3]))
@examples(30)
def test_sampled_tvds_are_those_of_decoding_each_drawn_order(seed: int, outputs: int) -> None:
    evidence = make_evidence(seed, n=5, outputs=outputs)
    draws = 7
    frame = permutation(evidence, permutations=draws, seed=seed)
    own = evidence.decode(AffineView.of(evidence).weights)
    expected, changed = np.empty((len(evidence), draws)), np.empty((len(evidence), draws))
    for row, (name, size) in enumerate(zip(keys(evidence.ids), evidence.weights.lengths, strict=True)):
        one = evidence.slice(row, row + 1)
        for draw in range(draws):
            order = Stream(seed, "permutation").uniform(name, draw, np.arange(size)).argsort()
            shuffled = one.weights.like(AffineView.of(one).weights.values[order])
            expected[row, draw] = tvd(one.decode(shuffled), own[row : row + 1])[0]
            changed[row, draw] = decide(one.decode(shuffled))[0] != decide(own[row : row + 1])[0]
    assert np.allclose(np.stack(frame["tvds"].to_list()), np.sort(expected, axis=1), atol=1e-12)
    assert np.allclose(frame["median"], np.median(expected, axis=1), atol=1e-12)
    assert np.allclose(frame["changed"], changed.mean(axis=1))
    assert np.allclose(frame["max_attention"], [row.max() for row in evidence.weights], atol=1e-6)


def test_a_sample_finds_all_orders_of_a_short_text_equally_often() -> None:
    orders = Stream(0, "permutation").orders(np.full(60_000, 3), np.arange(60_000))
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6
    assert np.all(np.abs(counts - 10_000) < 500)


def test_short_rows_are_shuffled_within_their_own_length() -> None:
    orders = Stream(1, "permutation").orders(np.array([[1], [3], [4]]), np.arange(3)[:, None], np.arange(50))
    assert np.all(np.sort(orders[0, :, :1]) == [0])
    assert np.all(np.sort(orders[1, :, :3]) == [0, 1, 2])
    assert np.all(np.sort(orders[2]) == [0, 1, 2, 3])


def test_the_sampled_range_lies_within_the_exact_one() -> None:
    frame = permutation(make_evidence(2, n=50, longest=12))
    assert np.all(np.array(frame["tvds"].to_list()).max(axis=1) <= frame["worst"].to_numpy() + 1e-12)
    assert not frame.filter((frame["changed"] > 0) & ~frame["can_change"]).height


def test_ties_by_rounding_do_not_count_as_a_change() -> None:
    frame = permutation(instance([0.1, 0.2, 0.7], [0.3, 0.3, 0.3], bias=-0.3))  # every order says exactly zero
    assert not frame["can_change"][0]
    assert frame["changed"][0] == 0


def test_equal_weights_and_single_items_cannot_be_moved() -> None:
    frame = permutation(awkward_evidence())
    assert frame["worst"].to_list()[:2] == pytest.approx([0, 0], abs=1e-9)
    assert frame["median"].to_list()[:2] == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize("count", [0, -1, 2.5, "5"])
def test_at_least_one_permutation_is_drawn(count: object) -> None:
    with pytest.raises(BadConfig, match=f"permutations = {count!r}: give a whole number of 1 or more"):
        permutation(make_evidence(), permutations=count)  # type: ignore[arg-type]
