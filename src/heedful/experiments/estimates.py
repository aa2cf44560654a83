"""Means with their intervals: several quantities of the same instances at once."""

from typing import NamedTuple

import numpy as np
import polars as pl

from heedful.measures import bootstraps, summarise


class Estimate(NamedTuple):
    """A mean over the `n` instances in which a quantity is defined, its spread and its interval."""

    mean: float | None
    std: float | None  # of the population
    low: float | None  # None also without bootstrap draws
    high: float | None
    n: int
    undefined: int


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
        low, high = (None, None) if interval is None else interval
        found[name] = Estimate(about.mean, about.std, low, high, about.n, about.undefined)
    return found
