"""How soon each ranking changes decisions, over all instances (Serrano & Smith 2019, section 5)."""

import numpy as np
import polars as pl

from heedful.experiments.arrays import Floats
from heedful.experiments.estimates import estimates
from heedful.experiments.frames import check_frame
from heedful.experiments.rankings import RANKINGS

_MEANS = ("fraction", "fraction_all", "mass", "mass_all", "excess", "optimal")
_KINDS = dict.fromkeys((f"{mean}{end}" for mean in _MEANS for end in ("", "_low", "_high", "_std")), pl.Float64)


def removal_scores(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """From the frame of `removal`, one row a ranking, over the `n` instances with several items.

    `never`, how many decisions never change; `fraction` and `mass`, means over those that do, with `_std` (of the
    population); `fraction_all` and `mass_all`, means over all, with everything removed where the decision never
    changes; `excess`, the mean number of items more than necessary, and `optimal`, how often that is none. Intervals of
    95 % by so many bootstrap draws in `<mean>_low` and `<mean>_high` (null without draws).

    `random` is the mean over all its orders: first of an instance's, then of the instances.
    """
    check_frame(frame, "removal", ["items", "confidence"])
    several, names = frame.filter(pl.col("items") > 1), present(frame)
    values = {name: _values(several, name) for name in names}  # (n,) each, NaN where undefined
    figures = {f"{name} {mean}": values[name][mean] for name in names for mean in _MEANS}
    found = estimates(pl.DataFrame(figures), seed=seed, draws=draws)
    rows = []
    for name in names:
        row: dict[str, object] = {"ranking": name, "n": len(several), "never": float(values[name]["never"].sum())}
        for mean in _MEANS:
            told = found[f"{name} {mean}"]
            row[mean] = told.mean
            if mean in ("fraction", "mass"):
                row[f"{mean}_std"] = told.std
            row |= {f"{mean}_low": told.low, f"{mean}_high": told.high}
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides=_KINDS)


def present(frame: pl.DataFrame) -> list[str]:
    """The rankings of a frame; `optimal` only if it is known of some instance."""
    return [
        name
        for name in RANKINGS
        if f"{name}_count" in frame.columns and not (name == "optimal" and frame["optimal_count"].is_null().all())
    ]


def _values(several: pl.DataFrame, name: str) -> dict[str, Floats]:
    """Each figure of each instance; of a random ranking, the mean over its orders."""
    counts, masses = (_table(several, name, figure) for figure in ("count", "mass"))  # (n, R)
    items, never = several["items"].to_numpy()[:, None], np.isnan(counts)
    fractions = counts / items
    least = _table(several, "optimal", "count") if "optimal_count" in several.columns else np.nan * counts[:, :1]
    excess = np.where(np.isnan(least), np.nan, counts - least)
    return {
        "never": never.mean(axis=1),
        "fraction": _mean(fractions),
        "fraction_all": np.where(never, 1.0, fractions).mean(axis=1),
        "mass": _mean(masses),
        "mass_all": np.where(never, 1.0, masses).mean(axis=1),
        "excess": _mean(excess),
        # an order that never changes a decision that a smaller set does change is not optimal
        "optimal": _mean(np.where(np.isnan(least), np.nan, (counts == least).astype(np.float64))),
    }


def _table(several: pl.DataFrame, name: str, figure: str) -> Floats:
    """Values (n, R) of a ranking, R = 1 but for a random one; NaN for null."""
    if name == "random":
        lists = several["random_counts" if figure == "count" else "random_masses"]
        width = int(lists.list.len().max() or 1)  # type: ignore[arg-type]
        return lists.explode().cast(pl.Float64).fill_null(np.nan).to_numpy().reshape(len(several), width)
    return several[f"{name}_{figure}"].cast(pl.Float64).fill_null(np.nan).to_numpy()[:, None]


def _mean(values: Floats) -> Floats:
    """Of the defined values of each row, (n,); NaN where there are none."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=1)
    mean = np.divide(total, defined.sum(axis=1), out=np.full(len(values), np.nan), where=defined.any(axis=1))
    return np.asarray(mean)
