"""The results of many runs as one lazy frame."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from heedful.errors import NotFound, unknown_name
from heedful.files import scan_parquet
from heedful.runs.directory import STAGES, damage_named
from heedful.runs.listing import ABOUT, Listed, listed
from heedful.runs.naming import EXPERIMENT_NAMES
from heedful.runs.places import Places

METRICS = "metrics"
_RESULTS = (METRICS, "evidence", "importance", *EXPERIMENT_NAMES)


def scan(places: Places, experiment: str = METRICS) -> pl.LazyFrame:
    """The results of all runs at or below some places, one under the other; nothing is loaded until it is collected.

    `experiment` is an experiment, `evidence` or `importance`, whose columns follow, or `metrics`: one row a run, with
    its test metrics. First stand `run` (the folder's name), `corpus`, `model`, `encoder`, `attention`, `seed`,
    `preset`, `subset` and `configuration`, as in `runs_in`. A column that a run does not have is null there. Runs
    without these results are left out; `runs_in` tells which.

    >>> import heedful
    >>> frame = heedful.scan("runs/", "permutation")  # doctest: +SKIP
    >>> frame.group_by("corpus", "encoder").agg(pl.col("median").mean()).collect()  # doctest: +SKIP
    """
    if experiment not in _RESULTS:
        raise unknown_name("experiment", str(experiment), _RESULTS)
    runs = listed(places)
    stage = "evidence" if experiment == METRICS else experiment
    there = [run for run in runs if stage in run.done]
    if not there:
        asked = f" and --experiments {experiment}" if experiment in EXPERIMENT_NAMES else ""
        raise NotFound(
            f"none of {len(runs):,} runs has results of {experiment}: `heedful run` with the same options{asked} makes "
            "them; `heedful.runs_in` tells the state of each"
        )
    if experiment == METRICS:
        return _concat([pl.LazyFrame([{**run.about, **_metrics(run.folder)}], schema_overrides=ABOUT) for run in there])
    return _concat([_lazy(run, run.folder / STAGES[stage].files[0]) for run in there])


def _concat(frames: list[pl.LazyFrame]) -> pl.LazyFrame:
    """Columns differ with the options of runs, and where a column is nowhere defined its type does, too."""
    return pl.concat(frames, how="diagonal_relaxed")


def _metrics(folder: Path) -> dict[str, Any]:
    """Those of the test split; what is told class by class has other names in each corpus, and is left out."""
    file = folder / "metrics.json"
    with damage_named(file, ValueError, KeyError, TypeError, AttributeError):
        test = json.loads(file.read_text(encoding="utf-8"))["test"]
        return {name: value for name, value in test.items() if not isinstance(value, dict)}


def _lazy(run: Listed, file: Path) -> pl.LazyFrame:
    with damage_named(file, pl.exceptions.PolarsError, OSError):
        frame = scan_parquet(file)
        frame.collect_schema()  # a damaged file is named here: in a frame of many, nobody could tell which it is
    return frame.select(*(pl.lit(value, ABOUT[name]).alias(name) for name, value in run.about.items()), pl.all())
