"""Means of experiments over instances and runs, their differences, and bootstrap intervals of all of these."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from heedful.measures import Interval, bootstrap, bootstraps, percentiles, summarise
from heedful.ragged import Floats
from heedful.randomness import Stream

SIGNIFICANT = 0.05
_CELLS = 1 << 19  # numbers of a bootstrap held at a time


def summary(frame: pl.DataFrame, *, by_decision: bool = True) -> pl.DataFrame:
    """One row for each figure or truth value of an experiment's frame and each group: `quantity`, `decision` (null: all
    instances; `by_decision=False`: no others), `mean`, `std` (of the population), `n` (instances in which it is
    defined), `undefined`. P-values become the share that is significant, p <= 0.05: `significant_...`."""
    quantities = frame.select(
        (pl.col(name) <= SIGNIFICANT).alias(f"significant_{name[2:]}") if name.startswith("p_") else pl.col(name)
        for name, kind in frame.schema.items()
        if kind.is_float() or kind == pl.Boolean
    )
    by_decision = by_decision and "decision" in frame.columns
    groups = [None, *sorted(frame["decision"].unique().to_list())] if by_decision else [None]
    rows = []
    for quantity in quantities.columns:
        for group in groups:
            values = quantities[quantity] if group is None else quantities[quantity].filter(frame["decision"] == group)
            figures = summarise(values.cast(pl.Float64).fill_null(float("nan")))
            rows.append((quantity, group, figures.mean, figures.std, figures.n, figures.undefined))
    kinds = {"quantity": pl.String, "decision": pl.Int32, "mean": pl.Float64, "std": pl.Float64}
    return pl.DataFrame(rows, schema={**kinds, "n": pl.Int64, "undefined": pl.Int64}, orient="row")


class Estimate(NamedTuple):
    """A mean over the `n` instances in which a quantity is defined, its spread and its interval."""

    mean: float | None
    std: float | None  # of the population
    low: float | None  # None also without bootstrap draws
    high: float | None
    n: int
    undefined: int

    def columns(self, name: str) -> dict[str, float | None]:
        """The mean under this name, and its interval: `<name>_low`, `<name>_high`."""
        return {name: self.mean, f"{name}_low": self.low, f"{name}_high": self.high}


def interval_kinds(names: Iterable[str]) -> dict[str, type[pl.DataType]]:
    """The types of these estimates' columns."""
    return dict.fromkeys((f"{name}{end}" for name in names for end in ("", "_low", "_high")), pl.Float64)


def estimates(quantities: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> dict[str, Estimate]:
    """Each column's mean, undefined (null) values left out, and its 95 % interval by so many bootstrap draws.

    >>> frame = pl.DataFrame({"flips": [True, False, None]})
    >>> estimates(frame, draws=0)["flips"]
    Estimate(mean=0.5, std=0.5, low=None, high=None, n=2, undefined=1)
    """
    table = quantities.select(pl.all().cast(pl.Float64).fill_null(np.nan)).to_numpy()  # (n, Q)
    found = {}
    intervals = bootstraps(table[None], seed=seed, draws=draws if len(table) else 0)
    for name, values, interval in zip(quantities.columns, table.T, intervals, strict=True):
        about = summarise(values)
        low, high = interval or (None, None)
        found[name] = Estimate(about.mean, about.std, low, high, about.n, about.undefined)
    return found


class Pooled(NamedTuple):
    """A mean over all runs and instances; None where nothing is defined."""

    mean: float | None
    low: float | None  # of the 95 % interval over runs and instances together
    high: float | None
    n: int  # defined values
    spread: float | None  # standard deviation of the runs' own means, of a sample; None for fewer than two


def pooled(values: ArrayLike, *, seed: int = 0, draws: int = 1000) -> Pooled:
    """The mean of values (runs, instances), undefined ones (NaN) left out.

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
    """The mean of `first` minus that of `second`, (runs, instances) each, undefined values (NaN) left out, and its 95 %
    bootstrap interval over runs and instances; None where one of them is nowhere defined. Runs are drawn separately;
    instances are drawn together if both have the same instances in the same order (`paired`)."""
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


def over_runs(drawn: Floats, *, seed: int = 0) -> Interval | None:
    """The 95 % interval over runs and instances of a score that is no mean over instances, such as F1: from its
    bootstrap draws (draws, runs), the same instances in a draw for all runs, runs are drawn in each."""
    draws, runs = drawn.shape
    picked = Stream(seed, "bootstrap of runs").generator().integers(runs, size=(draws, runs))
    return percentiles(np.take_along_axis(drawn, picked, axis=1).mean(axis=1))


def _times(generator: np.random.Generator, number: int, draws: int) -> Floats:
    """How often each of `number` things is in each draw, (draws, number)."""
    return generator.multinomial(number, np.full(number, 1 / number), size=draws).astype(np.float64)


def _means(generator: np.random.Generator, values: Floats, times: Floats) -> Floats:
    """The mean of each draw of runs and instances, (B,)."""
    defined = ~np.isnan(values)  # (R, n)
    runs = _times(generator, len(values), len(times))  # (B, R)
    sums = (runs * (times @ np.where(defined, values, 0.0).T)).sum(axis=1)
    counts = (runs * (times @ defined.T.astype(np.float64))).sum(axis=1)
    return np.asarray(np.divide(sums, counts, out=np.full(len(times), np.nan), where=counts > 0))
