"""Runs that differ only in the seed, taken together: their key figures, and how far their attention is apart."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.experiments.summary import estimates, spread
from heedful.files import scan_parquet
from heedful.findings.cache import kept
from heedful.findings.gathering import named_runs
from heedful.findings.key_figures import DRAWS, KEYS, key_values
from heedful.findings.labels import labels
from heedful.findings.run_facts import has_learned
from heedful.measures import Floats, bootstraps
from heedful.runs.between_seeds import between, by_configuration
from heedful.runs.catalogue import Places, configuration_of
from heedful.runs.directory import STAGES, Run
from heedful.workspace.folder import damage_named


class Values(NamedTuple):
    """A figure of every instance in every run that has it."""

    ids: pl.Series  # (n,)
    table: Floats  # (R, n), NaN where undefined


class Configuration:
    """Runs of one configuration, by rising seed."""

    def __init__(self, runs: list[Run], corpus: str, model: str) -> None:
        self.runs = runs
        self.corpus = corpus  # to print
        self.model = model
        self.config = runs[0].config

    @property
    def label(self) -> str:
        """What it is called."""
        return f"{self.corpus}, {self.model}"

    @property
    def learned(self) -> "Configuration | None":
        """Only those runs whose model is right more often than its most frequent class; None if there is none."""
        runs = [run for run in self.runs if has_learned(run)]
        return Configuration(runs, self.corpus, self.model) if runs else None

    def values(self, experiment: str, figure: pl.Expr, *columns: str) -> Values | None:
        """A figure made of columns of an experiment's frame, from the runs that have these; None if no run has."""
        frames, having = [], []
        for run in self.runs:
            if not run.done(experiment):
                continue
            file = run.folder / STAGES[experiment].files[0]
            with damage_named(file, pl.exceptions.PolarsError):
                frame = scan_parquet(file)
                if set(columns) <= set(frame.collect_schema().names()):
                    frames.append(frame.select("id", value=figure.cast(pl.Float64).fill_null(np.nan)).collect())
                    having.append(run)
        return stacked(having, frames) if frames else None


def configurations(runs: Sequence[Run]) -> list[Configuration]:
    """All configurations of runs, in the order of their first ones."""
    groups = by_configuration(runs)
    # a seed does not tell configurations apart
    named = labels([Run(run.folder, run.config.model_copy(update={"seed": 0})) for run, *_ in groups])
    return [Configuration(group, *name) for group, name in zip(groups, named, strict=True)]


def stacked(runs: Sequence[Run], frames: Sequence[pl.DataFrame]) -> Values:
    """The column `value` of runs on the same instances."""
    check_same_instances(runs, frames)
    return Values(frames[0]["id"], np.stack([frame["value"].to_numpy() for frame in frames]))


def check_same_instances(runs: Sequence[Run], frames: Sequence[pl.DataFrame]) -> None:
    """Raise unless all runs of a configuration were tested on the same instances."""
    for run, frame in zip(runs, frames, strict=True):
        if not frame["id"].equals(frames[0]["id"]):
            raise BadInput(
                f"{run.folder.name} and {runs[0].folder.name} are of one configuration, but tested on other "
                "instances: their corpus has changed between them; run one of them again, or leave it out"
            )


_PARTS = ("mean", "low", "high")
_NAMES = ("corpus", "model", "encoder", "attention", "preset")
_ABOUT: dict[str, Any] = {**dict.fromkeys(_NAMES, pl.String), "subset": pl.Boolean, "configuration": pl.String}
_KINDS: dict[str, Any] = {
    **_ABOUT,
    "figure": pl.String,
    "runs": pl.List(pl.String),
    "seeds": pl.List(pl.Int64),
    "n": pl.Int64,
    **dict.fromkeys(("mean", "std", "low", "high"), pl.Float64),
    **dict.fromkeys(("run_means", "run_lows", "run_highs"), pl.List(pl.Float64)),
}
_PAIRS = ("jsd", "tvd", "same")
_PAIR_KINDS: dict[str, Any] = {
    **_ABOUT,
    **dict.fromkeys(("first", "second"), pl.Int64),
    "n": pl.Int64,
    **{f"{name}{end}": pl.Float64 for name in _PAIRS for end in ("", "_low", "_high")},
}


def seed_figures(runs: Places | Sequence[Run], *, seed: int = 0, draws: int = DRAWS) -> pl.DataFrame:
    """One row for each configuration and key figure that one of its runs has; `runs` are runs, or where they lie.

    `mean` is over the instances of all `runs` that have the figure, `n` the number of defined values, `std` the
    standard deviation of the runs' own means (of a sample; null for one run), `low` and `high` the 95 % interval over
    seeds and instances together. `run_means`, `run_lows` and `run_highs` are each run's own, with its interval over
    instances alone, in the order of `seeds`. Runs of one configuration with other instances are refused.

    >>> import heedful
    >>> frame = heedful.seed_figures("runs/")  # doctest: +SKIP
    >>> frame.select("corpus", "encoder", "figure", "mean", "std", "low", "high")  # doctest: +SKIP
    """
    rows = [
        row
        for group in by_configuration(named_runs(runs))
        for row in kept("seed-figures", group, lambda group=group: _rows(group, seed, draws), seed=seed, draws=draws)  # type: ignore[misc]
    ]
    return pl.DataFrame(rows, schema=_KINDS)


def seed_pairs(runs: Places | Sequence[Run], *, seed: int = 0, draws: int = DRAWS) -> pl.DataFrame:
    """One row for each two runs of one configuration, by their seeds `first` and `second`: on the `n` instances that
    both were tested on, the means of `jsd` of their attention (0 to ln 2), of `tvd` of their outputs and of `same`, the
    share of equal decisions, with 95 % intervals over instances (`<figure>_low`, `<figure>_high`).

    Configurations of one seed have none. Runs whose instances or items differ are refused.
    """
    rows: list[dict[str, Any]] = []
    for group in by_configuration(named_runs(runs)):
        if len(group) > 1:
            rows += kept("seed-pairs", group, lambda group=group: _pairs(group, seed, draws), seed=seed, draws=draws)  # type: ignore[misc]
    return pl.DataFrame(rows, schema=_PAIR_KINDS)


def _about(group: Sequence[Run]) -> dict[str, Any]:
    config = group[0].config
    subset = bool(group[0].manifest["corpus"]["subset"])
    names = {name: getattr(config, name) for name in _NAMES}
    return {**names, "subset": subset, "configuration": configuration_of(config)}


def _pairs(group: list[Run], seed: int, draws: int) -> list[dict[str, Any]]:
    seeds = {run.folder.name: run.config.seed for run in group}
    pairs = between(group, seed=seed, draws=draws).pairs.iter_rows(named=True)
    return [{**_about(group), **pair, **{side: seeds[pair[side]] for side in ("first", "second")}} for pair in pairs]


def _rows(group: list[Run], seed: int, draws: int) -> list[dict[str, Any]]:
    frames = [key_values(run) for run in group]
    check_same_instances(group, frames)
    own = [estimates(frame.drop("id"), seed=seed, draws=draws) for frame in frames]
    about = _about(group)
    rows = []
    for names, numbers in _alike([frame.columns for frame in frames]):
        tables = (frames[number].select(pl.col(names).fill_null(np.nan)) for number in numbers)
        values = np.stack([table.to_numpy() for table in tables])  # (R, n, Q)
        intervals = bootstraps(values, seed=seed, draws=draws if values.shape[1] else 0)
        for index, (name, interval) in enumerate(zip(names, intervals, strict=True)):
            defined = values[..., index][~np.isnan(values[..., index])]
            each_run = [own[number][name] for number in numbers]
            if len(defined):
                rows.append(
                    {
                        **about,
                        "figure": name,
                        "runs": [group[number].folder.name for number in numbers],
                        "seeds": [group[number].config.seed for number in numbers],
                        "n": len(defined),
                        "mean": float(defined.mean()),
                        "std": spread([each.mean for each in each_run if each.mean is not None]),
                        "low": interval and interval.low,
                        "high": interval and interval.high,
                        **{f"run_{part}s": [getattr(each, part) for each in each_run] for part in _PARTS},
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
