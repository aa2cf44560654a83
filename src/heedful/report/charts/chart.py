"""A chart: one specification for files and for the interactive site."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import altair as alt
import polars as pl

from heedful.evidence import scan
from heedful.findings.instance_table import COLUMNS, columns_of
from heedful.findings.run_facts import why_missing
from heedful.printable import FEW_CLASSES, printable
from heedful.runs.directory import Run

Drawing = alt.TopLevelMixin  # whatever Altair draws: one view, layers, small multiples
DATA = "rows"  # what the specification calls its data


@dataclass(frozen=True)
class Facts:
    """What charts need to know about a run besides its rows."""

    classes: tuple[str, ...]  # as they are printed
    grouped: bool  # whether they are few enough to be shown separately
    n: int  # instances
    epsilon: float  # how far adversarial attention may move the output
    columns: frozenset[str]  # of report.rows that the run has

    @classmethod
    def of(cls, run: Run) -> "Facts":
        """The facts of a run."""
        classes = tuple(map(printable, run.classes))
        frame = scan(run.folder / "evidence.parquet")
        affine = "scores" in frame.collect_schema().names()
        columns = {column.name for column in columns_of(run)}
        if not affine:  # then the best choice is not known, and its columns hold nothing
            columns -= {"flip_set", "optimal_fraction", "optimal_mass"}
        return cls(
            classes=classes,
            grouped=len(classes) <= FEW_CLASSES,
            n=int(frame.select(pl.len()).collect().item()),
            epsilon=run.config.experiment_options.epsilon,
            columns=frozenset(columns),
        )


@dataclass(frozen=True)
class Chart:
    """A figure of the report."""

    name: str  # of its files
    title: str
    caption: str  # what it shows, and the figure of the paper
    columns: tuple[str, ...]  # of report.rows that it needs, beside `id` and `decided`
    build: Callable[[Facts], Drawing] = field(repr=False)
    optional: tuple[str, ...] = ()  # shown where a run has them
    brush: tuple[str, ...] | None = None  # the columns along x (and y) of its brush; None: it has none
    within: tuple[tuple[str, float | None, float | None], ...] = ()  # it draws only low <= column < high
    points: int | None = None  # of more instances, so many are drawn at random

    def missing(self, run: Run) -> str | None:
        """Why it cannot be drawn for a run; None if it can."""
        there = {column.name for column in columns_of(run)}
        absent = [COLUMNS[name] for name in self.columns if name not in there]
        if not absent:
            return None
        experiment, source = absent[0].experiment, absent[0].source
        without = f"{experiment} was performed without '{source}': the run's config.toml says which measures were taken"
        return why_missing(run, experiment) or without

    def shown(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether any of its rows has something to draw."""
        return any(self._drawn(row) for row in rows)

    def _drawn(self, row: Mapping[str, Any]) -> bool:
        if self.brush is None:  # one of several figures is enough
            return any(row.get(name) is not None for name in {*self.columns, *self.optional} - {"items"})
        return all(row[name] is not None for name in self.columns) and all(
            (low is None or low <= row[name]) and (high is None or row[name] < high) for name, low, high in self.within
        )

    def spec(self, facts: Facts) -> dict[str, Any]:
        """Vega-Lite, without its data and without a theme."""
        return deepcopy(_spec(self, facts))


@lru_cache(maxsize=256)  # files and site ask for the same, as do runs on one corpus
def _spec(chart: Chart, facts: Facts) -> dict[str, Any]:
    spec = chart.build(facts).to_dict(validate=False)  # tests do that; it takes longer than drawing
    spec.pop("config", None)
    spec["description"] = chart.title
    if chart.points is not None and facts.n > chart.points:
        spec["title"] = f"{chart.points:,} of {facts.n:,} instances, drawn at random"
    return spec
