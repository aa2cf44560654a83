"""Means over runs and instances, and their differences: runs of one configuration were tested on the same instances."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from heedful.experiments.arrays import Floats
from heedful.measures import Interval, bootstrap, percentiles
from heedful.randomness import Stream

_CELLS = 1 << 19  # numbers of a bootstrap held at a time


class Pooled(NamedTuple):
    """A mean over all runs and instances; None where nothing is defined."""

    mean: float | None
    low: float | None  # of the 95 % interval over runs and instances together
    high: float | None
    n: int  # defined values
    spread: float | None  # standard deviation of the runs' own means, of a sample; None for fewer than two


def pooled(values: ArrayLike, *, seed: int = 0, draws: int = 1000) -> Pooled:
    """Of values (runs, instances), undefined ones (NaN) left out.

    >>> pooled([[0.0, 1.0, float("nan")], [1.0, 1.0, 1.0]], draws=0)
    Pooled(mean=0.8, low=None, high=None, n=5, spread=0.3535533905932738)
    """
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    defined = ~np.isnan(table)
    count = int(defined.sum())
    if not count:
        return Pooled(None, None, None, 0, None)
    low, high = bootstrap(table, seed=seed, draws=draws) or (None, None)
    means = [float(row[kept].mean()) for row, kept in zip(table, defined, strict=True) if kept.any()]
    return Pooled(float(table[defined].mean()), low, high, count, spread(means))


def spread(means: ArrayLike) -> float | None:
    """The standard deviation of runs' means, of a sample: seeds are a few of many. None for fewer than two."""
    known = np.asarray(means, dtype=np.float64)
    return float(known.std(ddof=1)) if len(known) > 1 else None


class Difference(NamedTuple):
    """By how much one mean exceeds another."""

    mean: float
    low: float
    high: float


def difference(
    first: ArrayLike, second: ArrayLike, *, paired: bool, seed: int = 0, draws: int = 1000
) -> Difference | None:
    """The mean of `first` minus that of `second`, (runs, instances) each, with its 95 % bootstrap interval over runs
    and instances; None where one of them is nowhere defined.

    Runs are drawn apart. Instances are drawn once for both if the two are of the same instances, in the same order
    (`paired`), and apart if not. Undefined values (NaN) are left out.
    """
    one, other = (np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (first, second))
    if paired and one.shape[1] != other.shape[1]:
        raise ValueError(f"pairs are needed, but there are {one.shape[1]} and {other.shape[1]} instances")
    if np.isnan(one).all() or np.isnan(other).all():
        return None
    generator = Stream(seed, "bootstrap of differences").generator()
    found: list[Floats] = []
    block = max(1, _CELLS // max(one.shape[1], other.shape[1]))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        times = _times(generator, one.shape[1], size)  # (B, n)
        means = _means(generator, one, times)
        found.append(means - _means(generator, other, times if paired else _times(generator, other.shape[1], size)))
    interval = percentiles(np.concatenate(found)) if found else None
    mean = float(np.nanmean(one) - np.nanmean(other))
    return Difference(mean, *(interval or Interval(mean, mean)))


def _times(generator: np.random.Generator, number: int, draws: int) -> Floats:
    """How often each of so many is in each draw, (draws, number)."""
    return generator.multinomial(number, np.full(number, 1 / number), size=draws).astype(np.float64)


def _means(generator: np.random.Generator, values: Floats, times: Floats) -> Floats:
    """The mean of each draw of runs and instances, (B,)."""
    defined = ~np.isnan(values)  # (R, n)
    runs = _times(generator, len(values), len(times))  # (B, R)
    sums = (runs * (times @ np.where(defined, values, 0.0).T)).sum(axis=1)
    counts = (runs * (times @ defined.T.astype(np.float64))).sum(axis=1)
    return np.asarray(np.divide(sums, counts, out=np.full(len(times), np.nan), where=counts > 0))


def over_runs(drawn: Floats, *, seed: int = 0) -> Interval | None:
    """The 95 % interval over runs and instances of a score that is no mean over instances, such as F1: from its
    bootstrap draws (draws, runs), the same instances in a draw for all runs, runs are drawn in each."""
    draws, runs = drawn.shape
    picked = Stream(seed, "bootstrap of runs").generator().integers(runs, size=(draws, runs))
    return percentiles(np.take_along_axis(drawn, picked, axis=1).mean(axis=1))
