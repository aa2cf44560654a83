import numpy as np
import pytest

from heedful.verdict.inference import (
    ALPHA,
    BETS,
    above_level,
    below_level,
    capital,
    mean_interval,
    values_needed,
)

SEQUENCES, LOOKS = 2000, 200


@pytest.mark.parametrize("kind", ["coin", "uniform", "skewed"])
def test_looking_again_and_again_is_misled_no_more_often_than_alpha(kind: str) -> None:
    draw = np.random.default_rng(0)
    size = (SEQUENCES, LOOKS)
    values, level = {
        "coin": (draw.integers(0, 2, size).astype(float), 0.5),
        "uniform": (draw.uniform(0, 1, size), 0.5),
        "skewed": (draw.beta(0.3, 0.9, size), 0.25),
    }[kind]
    for some, bar in ((values, level), (1 - values, 1 - level)):
        bets = (BETS / bar)[:, None, None]
        logs = np.log1p(bets * (some - bar)).cumsum(axis=2)  # the capital at every look, written out
        misled = (np.exp(logs).mean(axis=0) >= 1 / ALPHA).any(axis=1).mean()
        assert misled <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / SEQUENCES)
        assert capital(some[0] - bar, bar) == pytest.approx(np.exp(logs[:, 0, -1]).mean())


def test_order_does_not_matter() -> None:
    values = np.random.default_rng(1).uniform(0, 1, 50)
    assert mean_interval(values) == pytest.approx(mean_interval(np.sort(values)), abs=1e-9)


def test_intervals_hold_the_mean_and_shrink() -> None:
    values = np.random.default_rng(2).beta(2, 3, 2000)
    widths = []
    for count in (20, 200, 2000):
        low, high = mean_interval(values[:count])
        assert low < 0.4 < high
        assert not above_level(values[:count], 0.4)
        assert not below_level(values[:count], 0.4)
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)


def test_few_values_tell_nothing() -> None:
    for values in (np.empty(0), np.ones(1), np.zeros(2)):
        assert not above_level(values, 0.4)
        assert not below_level(values, 0.4)
    assert mean_interval(np.empty(0)) == (0.0, 1.0)


def test_as_many_values_as_are_said_to_be_needed_are_about_enough() -> None:
    draw = np.random.default_rng(3)
    values = draw.binomial(1, 0.6, 15).astype(float)
    more = values_needed(values, 0.3)
    assert more is not None
    assert above_level(np.concatenate([values, *[values] * (1 + more // 15)]), 0.3)
    assert values_needed(np.ones(1), 0.3) is None
