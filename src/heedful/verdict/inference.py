"""Inference that stays valid however often one looks: tests by betting (Waudby-Smith & Ramdas 2024).

A gambler who bets on a mean being above zero, and whose stake cannot run out, gets rich only if it is: if the mean is
zero or less, the chance that the capital ever exceeds 1 / alpha is at most alpha (Ville's inequality), for bounded
values of any distribution and any rule for when to stop. The capital is an average over constant bets, so the order of
the values does not matter.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ALPHA = 0.05
BETS = 0.99 * 2.0 ** -np.arange(0, 8, 0.5)  # shares of the largest bet that cannot ruin
STEPS = 20  # of bisection: bounds are exact to 1e-6
LARGEST = 700.0  # logarithm of a capital that a double can hold


def capital(values: Floats, least: float) -> float:
    """What betting on a positive mean has made of 1, for values of at least `-least`."""
    logs = _log_capitals(values, least)
    top = float(logs.max())
    return float(np.exp(min(top, LARGEST)) * np.exp(logs - top).mean())


def above(values: Floats, least: float, *, alpha: float = ALPHA) -> bool:
    """Whether the mean of values of at least `-least` is clearly positive."""
    return capital(values, least) >= 1 / alpha


def above_level(values: Floats, level: float, *, alpha: float = ALPHA) -> bool:
    """Whether the mean of values between 0 and 1 is clearly above a level."""
    return 0 < level < 1 and above(values - level, level, alpha=alpha)


def below_level(values: Floats, level: float, *, alpha: float = ALPHA) -> bool:
    """Whether the mean of values between 0 and 1 is clearly below a level."""
    return above_level(1 - values, 1 - level, alpha=alpha)


def mean_interval(values: Floats, *, alpha: float = ALPHA) -> tuple[float, float]:
    """A confidence sequence for the mean of values between 0 and 1, each side at level `alpha`."""
    low = _last(lambda level: above_level(values, level, alpha=alpha))
    high = 1 - _last(lambda level: above_level(1 - values, level, alpha=alpha))
    return low, high


def values_needed(values: Floats, level: float, *, alpha: float = ALPHA) -> int | None:
    """About how many more values like these would show on which side of a level their mean is; None: cannot be told."""
    if len(values) < 2:
        return None
    needed = []
    for some, bar in ((values, level), (1 - values, 1 - level)):
        logs = _log_capitals(some - bar, bar)
        growth = float(logs.max()) / len(values)
        if growth > 0:
            missing = np.log(1 / alpha) + np.log(len(BETS)) - float(logs.max())
            needed.append(max(1, int(np.ceil(missing / growth))))
    return min(needed, default=None)


def _log_capitals(values: Floats, least: float) -> Floats:
    """Logarithms of what each constant bet has made of 1."""
    bounded = np.maximum(values, -least)
    logs: Floats = np.log1p(np.multiply.outer(BETS / least, bounded)).sum(axis=1)
    return logs


def _last(ruled_out: Callable[[float], bool]) -> float:
    """The largest level up to which all are ruled out, 0 if none is."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if ruled_out(middle) else (low, middle)
    return low
