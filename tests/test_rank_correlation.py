from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from heedful import rank_correlation as ranking
from heedful.ragged import Ragged
from heedful.rank_correlation import kendall, top_distance

few = st.integers(0, 4)  # few values, so that there are ties
many = st.floats(-1, 1, allow_nan=False)
batches = st.lists(
    st.integers(1, 45).flatmap(
        lambda size: st.sampled_from([few, many]).flatmap(
            lambda kind: st.tuples(*(st.lists(kind, min_size=size, max_size=size) for _ in range(2)))
        )
    ),
    min_size=1,
    max_size=6,
)


@given(batches, st.sampled_from([0, 10, 256]))
def test_kendall_is_scipys_and_undefined_where_it_must_be(
    batch: list[tuple[list[float], list[float]]], longest: int
) -> None:
    first, second = (Ragged.from_rows([pair[side] for pair in batch], dtype=np.float64) for side in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "LONGEST", longest)
        tau, p_value = kendall(first, second)
    for row, (x, y) in enumerate(batch):
        if len(set(x)) == 1 or len(set(y)) == 1:
            assert np.isnan(tau[row])
            assert np.isnan(p_value[row])
        else:
            expected = stats.kendalltau(x, y)
            assert tau[row] == pytest.approx(expected.statistic, abs=1e-12)
            assert p_value[row] == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("size", [2, 3, 33, 34, 60, 180])
@pytest.mark.parametrize("swaps", [0, 1, 2])
def test_p_values_of_nearly_equal_orders_are_scipys(size: int, swaps: int) -> None:
    x = np.arange(size, dtype=np.float64)
    y = x.copy()
    for swap in range(min(swaps, size // 2)):
        y[[2 * swap, 2 * swap + 1]] = y[[2 * swap + 1, 2 * swap]]
    for other in (y, y[::-1]):
        tau, p_value = kendall(Ragged.from_rows([x]), Ragged.from_rows([other]))
        expected = stats.kendalltau(x, other)
        assert (tau[0], p_value[0]) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def plain_top_distance(x: list[float], y: list[float], top: int) -> float:
    """Pair by pair, as Fagin, Kumar & Sivakumar define it."""
    lists = [sorted(range(len(values)), key=lambda item: (-values[item], item))[:top] for values in (x, y)]

    def order(values: list[float], listed: list[int], one: int, other: int) -> int:
        a, b = (values[item] if item in listed else -np.inf for item in (one, other))
        return int(a > b) - int(a < b)

    penalty, pairs = 0.0, 0
    for one, other in combinations(sorted(set(lists[0]) | set(lists[1])), 2):
        signs = (order(x, lists[0], one, other), order(y, lists[1], one, other))
        penalty += 0.0 if signs[0] == signs[1] else 1.0 if 0 not in signs else 0.5
        pairs += 1
    return penalty / pairs if pairs else float("nan")


@given(batches, st.integers(1, 12))
def test_top_distance_is_the_plain_one(batch: list[tuple[list[float], list[float]]], top: int) -> None:
    first, second = (Ragged.from_rows([pair[side] for pair in batch], dtype=np.float64) for side in (0, 1))
    expected: NDArray[np.float64] = np.array([plain_top_distance(x, y, top) for x, y in batch])
    assert np.allclose(top_distance(first, second, top=top), expected, equal_nan=True)


def test_top_distance_of_the_same_and_of_opposite_orders() -> None:
    rising = Ragged.from_rows([np.arange(6.0)])
    falling = rising.like(-rising.values)
    assert top_distance(rising, rising, top=3) == [0.0]
    assert top_distance(rising, falling, top=6) == [1.0]


@pytest.mark.parametrize("measure", [kendall, lambda x, y: top_distance(x, y, top=3)])
def test_rows_of_different_lengths_are_refused(measure: object) -> None:
    with pytest.raises(ValueError, match="same lengths"):
        measure(Ragged.from_rows([[0.4, 0.6]]), Ragged.from_rows([[1.0]]))
