"""The rows of a table, made of runs that differ only in the seed: means, and deviations from seed to seed."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from heedful.experiments.summary import spread
from heedful.findings.configurations import Configuration
from heedful.findings.run_facts import RunFrames, why_missing
from heedful.findings.table_rows import Cells, Rows


class OverSeeds(NamedTuple):
    """A figure of a configuration."""

    mean: float  # of the runs' own means
    std: float | None  # of a sample; None where one run has the figure
    seeds: int  # so many runs have it


class Row(NamedTuple):
    """A row of a configuration: what it is about, and its figures by name, those that one run at least defines."""

    about: Cells
    figures: dict[str, OverSeeds]


def rows_over_seeds(
    configuration: Configuration, stage: str, rows: Rows, *, about: Sequence[str], figures: Sequence[str]
) -> list[Row]:
    """The rows of those runs of a configuration that have performed a stage, one for each different `about`."""
    found: dict[tuple[object, ...], list[Cells]] = {}
    for run in configuration.runs:
        if why_missing(run, stage) is None:
            for row in rows(RunFrames(run)):
                found.setdefault(tuple(row[name] for name in about), []).append(row)
    return [
        Row(
            dict(zip(about, names, strict=True)),  # type: ignore[arg-type]
            {name: figure for name in figures if (figure := _over_seeds([row[name] for row in own])) is not None},
        )
        for names, own in found.items()
    ]


def _over_seeds(values: Sequence[object]) -> OverSeeds | None:
    known = [float(value) for value in values if isinstance(value, int | float)]
    return OverSeeds(float(np.mean(known)), spread(known), len(known)) if known else None
