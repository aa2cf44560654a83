"""Means over runs and instances."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heedful.experiments.summary import difference, over_runs, pooled
from heedful.measures import bootstrap
from tests.strategies import examples

TABLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 3), st.integers(1, 6)),
    elements=st.one_of(st.floats(-2, 2, width=16), st.just(np.nan)),
)


@given(TABLES)
@examples(60)
def test_a_mean_is_that_of_the_defined_values(table: np.ndarray) -> None:
    found = pooled(table, draws=40)
    defined = [value for row in table.tolist() for value in row if not math.isnan(value)]
    assert found.n == len(defined)
    if not defined:
        assert found == (None, None, None, 0, None)
        return
    assert found.mean == pytest.approx(sum(defined) / len(defined))
    assert found.low is not None
    assert found.high is not None
    assert min(defined) - 1e-9 <= found.low <= found.high <= max(defined) + 1e-9
    assert (found.low, found.high) == bootstrap(table, seed=0, draws=40)


@given(TABLES, st.floats(-3, 3, width=16))
@examples(60)
def test_a_run_against_itself_shifted(table: np.ndarray, shift: float) -> None:
    """One run each: pairs differ by the shift in every draw, whatever is drawn."""
    found = difference(table[:1] + shift, table[:1], paired=True, draws=30)
    if np.isnan(table[:1]).all():
        assert found is None
        return
    assert found == pytest.approx((shift, shift, shift), abs=1e-9)


@pytest.mark.parametrize("paired", [True, False])
def test_as_plain_draws_tell(paired: bool) -> None:
    draw = np.random.default_rng(0)
    shared = draw.normal(size=40)
    first, second = shared + draw.normal(0.3, 0.2, (3, 1)), shared + draw.normal(0, 0.2, (2, 40))
    first[1, 5:9] = np.nan
    found = difference(first, second, paired=paired, draws=4000)
    plain = []
    for _ in range(4000):
        one = draw.integers(40, size=40)
        other = one if paired else draw.integers(40, size=40)
        plain.append(
            np.nanmean(first[draw.integers(3, size=3)][:, one]) - np.nanmean(second[draw.integers(2, size=2)][:, other])
        )
    low, high = np.quantile(plain, [0.025, 0.975])
    assert found is not None
    assert found.mean == pytest.approx(np.nanmean(first) - np.nanmean(second))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05)
    assert found.high - found.low == pytest.approx(high - low, rel=0.15)


def test_pairs_are_narrower_where_instances_matter() -> None:
    values = np.random.default_rng(1).normal(size=(1, 50))
    together = difference(values + 0.1, values, paired=True)
    apart = difference(values + 0.1, values, paired=False)
    assert together is not None
    assert apart is not None
    assert together.high - together.low < 1e-9
    assert apart.high - apart.low > 0.2


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="3 and 2 instances"):
        difference([[1.0, 2.0, 3.0]], [[1.0, 2.0]], paired=True)


def test_runs_are_drawn_too() -> None:
    drawn = np.tile([0.0, 1.0], (2000, 1))  # two runs that no draw of instances moves
    assert over_runs(drawn) == (0.0, 1.0)
    assert over_runs(drawn[:, :1]) == (0.0, 0.0)
