"""Key figures over seeds: runs that differ only in the seed, taken together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from heedful.experiments.estimates import estimates
from heedful.experiments.over_runs import spread
from heedful.measures import Floats, bootstraps
from heedful.report.configurations import check_same_instances
from heedful.report.key_figures import DRAWS, KEYS, key_values
from heedful.runs.directory import Run
from heedful.runs.listing import configuration_of
from heedful.runs.seeds import by_configuration

_PARTS = ("mean", "low", "high")
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("corpus", "model", "encoder", "attention", "preset"), pl.String),
    "subset": pl.Boolean,
    "configuration": pl.String,
    "figure": pl.String,
    "runs": pl.List(pl.String),
    "seeds": pl.List(pl.Int64),
    "n": pl.Int64,
    **dict.fromkeys(("mean", "std", "low", "high"), pl.Float64),
    **dict.fromkeys(("run_means", "run_lows", "run_highs"), pl.List(pl.Float64)),
}


def seed_figures(runs: Sequence[Run], *, seed: int = 0, draws: int = DRAWS) -> pl.DataFrame:
    """One row for each configuration and key figure that one of its runs has.

    `mean` is over the instances of all `runs` that have the figure, `n` the number of defined values, `std` the
    standard deviation of the runs' own means (of a sample; null for one run), `low` and `high` the 95 % interval over
    seeds and instances together. `run_means`, `run_lows` and `run_highs` are each run's own, with its interval over
    instances alone, in the order of `seeds`. Runs of one configuration with other instances are refused.
    """
    rows = [row for group in by_configuration(runs) for row in _rows(group, seed, draws)]
    return pl.DataFrame(rows, schema=_KINDS)


def _rows(group: list[Run], seed: int, draws: int) -> list[dict[str, Any]]:
    frames = [key_values(run) for run in group]
    check_same_instances(group, frames)
    own = [estimates(frame.drop("id"), seed=seed, draws=draws) for frame in frames]
    config = group[0].config
    about = {name: getattr(config, name) for name in ("corpus", "model", "encoder", "attention", "preset")}
    about["subset"] = bool(group[0].manifest["corpus"]["subset"])
    about["configuration"] = configuration_of(config)
    rows = []
    for names, numbers in _alike([frame.columns for frame in frames]):
        values = np.stack([_numbers(frames[number], names) for number in numbers])  # (R, n, Q)
        intervals = bootstraps(values, seed=seed, draws=draws if values.shape[1] else 0)
        for index, (name, interval) in enumerate(zip(names, intervals, strict=True)):
            defined = values[..., index][~np.isnan(values[..., index])]
            told = [own[number][name] for number in numbers]
            if len(defined):
                rows.append(
                    {
                        **about,
                        "figure": name,
                        "runs": [group[number].folder.name for number in numbers],
                        "seeds": [group[number].config.seed for number in numbers],
                        "n": len(defined),
                        "mean": float(defined.mean()),
                        "std": spread([each.mean for each in told if each.mean is not None]),
                        "low": interval and interval.low,
                        "high": interval and interval.high,
                        **{f"run_{part}s": [getattr(each, part) for each in told] for part in _PARTS},
                    }
                )
    order = {key.name: number for number, key in enumerate(KEYS)}
    return sorted(rows, key=lambda row: order[row["figure"]])


def _alike(columns: Sequence[Sequence[str]]) -> list[tuple[list[str], list[int]]]:
    """Figures that the same runs have, and these runs: each such set is drawn from at once."""
    sets: dict[tuple[int, ...], list[str]] = {}
    for key in KEYS:
        having = tuple(number for number, names in enumerate(columns) if key.name in names)
        if having:
            sets.setdefault(having, []).append(key.name)
    return [(names, list(having)) for having, names in sets.items()]


def _numbers(frame: pl.DataFrame, names: Sequence[str]) -> Floats:
    return frame.select(pl.col(names).fill_null(np.nan)).to_numpy()  # (n, Q)
