"""Distances, intervals and tests that every experiment shares.

Everything is defined for rows of one item and for constant rows: a rank correlation that does not exist is NaN in the
arrays here, null in files, and `summarise` leaves it out of the mean and says how many there were.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import xlog1py, xlogy

from heedful.ragged import Ragged
from heedful.randomness import Stream
from heedful.rank_correlation import check_same_rows

Floats = NDArray[np.float64]

_CELLS = 1 << 19  # numbers drawn by a bootstrap that are kept for the next one
_HELD = 1 << 24  # numbers of which means are taken at a time
_LEAST, _MOST = 16, 128  # draws of a block


def tvd(first: ArrayLike, second: ArrayLike) -> Floats:
    """Total variation distance of outputs (n, K), in [0, 1]; K = 1 is the probability of a Bernoulli.

    >>> tvd([[0.9]], [[0.4]]).round(6).tolist(), tvd([[0.5, 0.5]], [[1.0, 0.0]]).tolist()
    ([0.5], [0.5])
    """
    difference = np.abs(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))
    total = difference.sum(axis=-1)
    return np.asarray(total if difference.shape[-1] == 1 else total / 2)


def jsd(first: Ragged, second: Ragged) -> Floats:
    """Jensen-Shannon divergence of two ragged batches of distributions, natural logarithm: (n,) in [0, ln 2]."""
    check_same_rows(first, second)
    p = first.values.astype(np.float64)
    q = second.values.astype(np.float64)
    middle = (p + q) / 2
    terms = (xlogy(p, p) + xlogy(q, q)) / 2 - xlogy(middle, middle)
    return np.clip(first.like(terms).sum().astype(np.float64), 0.0, np.log(2))  # rounding may leave -1e-17


def output_jsd(first: ArrayLike, second: ArrayLike) -> Floats:
    """Jensen-Shannon divergence of outputs (..., K), K at least 2, natural logarithm: (...) in [0, ln 2].

    Divergences far below the precision of a probability near one keep their order: what matters is how the small
    probabilities compare, and they are precise.

    >>> output_jsd([1.0, 0.0], [0.0, 1.0]).round(6).tolist()
    0.693147
    """
    p, q = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    total = p + q
    apart = np.divide(p - q, total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(np.clip((xlog1py(p, apart) + xlog1py(q, -apart)).sum(axis=-1) / 2, 0.0, np.log(2)))


def entropy(distributions: Ragged) -> Floats:
    """Shannon entropy of each row, natural logarithm: (n,)."""
    p = distributions.values.astype(np.float64)
    return distributions.like(-xlogy(p, p)).sum().astype(np.float64)


@dataclass(frozen=True)
class Summary:
    """A mean, and how many values it is of."""

    mean: float | None  # None where nothing is defined
    std: float | None  # of the population, as the papers report it
    n: int  # defined values
    undefined: int  # values left out


def summarise(values: ArrayLike) -> Summary:
    """Mean and standard deviation over the defined values.

    >>> summarise([1.0, float("nan"), 3.0])
    Summary(mean=2.0, std=1.0, n=2, undefined=1)
    """
    array = np.asarray(values, dtype=np.float64)
    defined = array[~np.isnan(array)]
    if len(defined) == 0:
        return Summary(None, None, 0, len(array))
    return Summary(float(defined.mean()), float(defined.std()), len(defined), len(array) - len(defined))


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def bootstrap(values: ArrayLike, *, seed: int, level: float = 0.95, draws: int = 2000) -> Interval | None:
    """Percentile bootstrap interval of a mean over two levels: runs, and the instances that all runs share.

    `values` is (runs, instances), or (instances,) for one run. Each draw picks as many runs as there are and one set of
    instances for all of them, both with replacement: seeds of one model are tested on the same texts, and drawing texts
    anew for each run would hide most of their spread. Undefined values (NaN) are left out; None if nothing is left.
    """
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))  # (R, n)
    return bootstraps(table[..., None], seed=seed, level=level, draws=draws)[0]


def bootstraps(values: ArrayLike, *, seed: int, level: float = 0.95, draws: int = 2000) -> list[Interval | None]:
    """The same for several quantities of the same instances, (runs, instances, quantities), with shared draws: they are
    most of the work."""
    table = np.asarray(values, dtype=np.float64)  # (R, n, Q)
    quantities = table.shape[2]
    if quantities > 1 and table.size > _HELD:
        halves = np.array_split(table, 2, axis=2)
        return [one for half in halves for one in bootstraps(half, seed=seed, level=level, draws=draws)]
    means = bootstrap_means(table, seed=seed, draws=draws)
    return [percentiles(means[:, quantity], level=level) for quantity in range(quantities)]


def bootstrap_means(values: Floats, *, seed: int, draws: int = 2000) -> Floats:
    """The means of all draws, (draws, quantities), of values (runs, instances, quantities): for figures made of several
    means. NaN where a draw has no defined value."""
    runs, instances, quantities = values.shape
    defined = ~np.isnan(values)
    filled = np.concatenate([np.where(defined, values, 0.0), defined], axis=2)  # (R, n, 2 Q): sums and counts
    flat = filled.transpose(1, 0, 2).reshape(instances, runs * 2 * quantities)
    means = np.full((draws, quantities), np.nan)
    block = max(_LEAST, min(_MOST, _CELLS // max(1, instances)))  # draws multiplied at once
    resample = _resampled if block * instances <= _CELLS else _resampled.__wrapped__  # too large to be kept
    for start in range(0, draws if defined.any() else 0, block):
        size = min(block, draws - start)
        picked, times = (counts[:size] for counts in resample(seed, runs, instances, block, start // block))
        drawn = (times.astype(np.float64) @ flat).reshape(size, runs, 2 * quantities)
        sums, counts = np.split((picked[..., None] * drawn).sum(axis=1), 2, axis=1)  # (B, Q) each
        np.divide(sums, counts, out=means[start : start + size], where=counts > 0)
    return means


@lru_cache(maxsize=64)  # a megabyte or so each; many results are of as many instances
def _resampled(seed: int, runs: int, instances: int, size: int, index: int) -> tuple[NDArray[np.uint16], ...]:
    """How often each run, (size, R), and each instance, (size, n), is in each draw of a block."""
    generator = Stream(seed, "bootstrap").generator(index)
    counts = tuple(np.empty((size, number), dtype=np.uint16) for number in (runs, instances))
    for draw in range(size):
        for times in counts:
            number = times.shape[1]
            times[draw] = np.bincount(generator.integers(number, size=number), minlength=number)
    return counts


def percentiles(means: Floats, *, level: float = 0.95) -> Interval | None:
    """The percentile interval of bootstrap draws; draws without a value (NaN) are left out."""
    defined = means[~np.isnan(means)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


class SignTest(NamedTuple):
    """Outcome of a paired sign test."""

    lower: int  # pairs in which the first is smaller
    higher: int
    ties: int
    undefined: int  # pairs of which one is NaN
    p_value: float


def sign_test(first: ArrayLike, second: ArrayLike) -> SignTest:
    """Exact two-sided paired sign test; ties are dropped, and with nothing but ties p = 1.

    >>> sign_test([1, 2, 3], [2, 3, 4])
    SignTest(lower=3, higher=0, ties=0, undefined=0, p_value=0.25)
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"pairs are needed, but there are {len(x)} and {len(y)} values")
    lower, higher = int((x < y).sum()), int((x > y).sum())
    decided, undefined = lower + higher, int((np.isnan(x) | np.isnan(y)).sum())
    p_value = float(stats.binomtest(lower, decided).pvalue) if decided else 1.0
    return SignTest(lower, higher, len(x) - decided - undefined, undefined, p_value)


def holm(p_values: ArrayLike) -> Floats:
    """P-values corrected for multiple tests (Holm 1979).

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = given.argsort(kind="stable")
    corrected = np.empty_like(given)
    corrected[order] = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1)).clip(max=1.0)
    return corrected
