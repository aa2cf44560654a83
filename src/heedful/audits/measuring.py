"""What the criteria of the verdict go by: means over instances and their intervals."""

from typing import NamedTuple

import numpy as np
import polars as pl

from heedful.audits.criteria import quantities
from heedful.audits.signals import FALL, methods_of
from heedful.audits.verdict import Better
from heedful.measures import Floats, bootstrap_means, percentiles

DRAWS = 2000


class Measured(NamedTuple):
    """A figure over the `n` instances in which it is defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Measurements(NamedTuple):
    """All that a verdict needs to know of the signals."""

    figures: dict[str, Measured]  # of each criterion
    best: str | None  # the method whose first items matter most
    gains: Measured  # by how much these matter more than random ones
    rivals: list[Better]  # every method's difference from attention, the greatest first


def measured(signals: pl.DataFrame, *, seed: int, draws: int = DRAWS) -> Measurements:
    """Means, and intervals of 95 % by bootstrap over instances; in whatever order these come."""
    ordered = signals.sort("id")
    figures = {name: _mean(_values(ordered, value), seed, draws) for name, value in quantities().items()}
    methods, falls = methods_of(ordered), {}
    for name in ("attention", "random", *methods):
        falls[name] = _values(ordered, pl.col(f"{name}{FALL}"))
    known = [name for name in methods if not np.isnan(falls[name]).all()]
    best = max(known, key=lambda name: float(np.nanmean(falls[name])), default=None)
    gains, figures["race"] = Measured(), Measured()
    if best is not None:
        table = np.stack([falls["attention"] - falls["random"], falls[best] - falls["random"]], axis=1)  # (n, 2)
        gains, figures["race"] = _ratio(table[~np.isnan(table).any(axis=1)], seed, draws)
    rivals = []
    for name in known:
        ahead = _mean(falls[name] - falls["attention"], seed, draws)
        if ahead.value is not None and ahead.low is not None and ahead.high is not None:
            rivals.append((Better(name, ahead.value, ahead.low, ahead.high), ahead.n))
    rivals.sort(key=lambda rival: -rival[0].by)
    return Measurements(figures, best, gains, [rival for rival, _ in rivals])


def _values(signals: pl.DataFrame, value: pl.Expr) -> Floats:
    column = signals.select(value.cast(pl.Float64).fill_null(np.nan)).to_series()
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _mean(values: Floats, seed: int, draws: int) -> Measured:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Measured()
    interval = percentiles(bootstrap_means(defined[None, :, None], seed=seed, draws=draws)[:, 0])
    low, high = (None, None) if interval is None else interval
    return Measured(float(defined.mean()), low, high, len(defined))


def _ratio(gains: Floats, seed: int, draws: int) -> tuple[Measured, Measured]:
    """Mean gain of the best method, and the ratio of attention's mean gain (n, 2) to it: undefined unless the best
    method does clearly better than random order."""
    best = _mean(gains[:, 1], seed, draws)
    if best.value is None or best.low is None or best.low <= 0:
        return best, Measured(n=len(gains))
    means = bootstrap_means(gains[None], seed=seed, draws=draws)  # (draws, 2)
    ratios = np.divide(means[:, 0], means[:, 1], out=np.full(len(means), np.nan), where=means[:, 1] > 0)
    interval = percentiles(ratios)
    low, high = (None, None) if interval is None else interval
    own = float(gains[:, 0].mean())
    return best, Measured(own / best.value, low, high, len(gains))
