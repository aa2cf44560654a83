"""Configuration: runs that differ only in the seed, and what comparisons read of them together."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.files import scan_parquet
from heedful.measures import Floats
from heedful.report.labels import labels
from heedful.report.removing import has_learned
from heedful.runs.directory import STAGES, Run, damage_named
from heedful.runs.seeds import by_configuration


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
                    frames.append(
                        frame.select("id", figure.cast(pl.Float64).fill_null(np.nan).alias("value")).collect()
                    )
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
