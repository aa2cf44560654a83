"""The rows of a chart: the same for files and for the site."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.findings.instance_table import instance_rows
from heedful.printable import printable
from heedful.randomness import Stream, keys
from heedful.report.charts.chart import Chart
from heedful.runs.directory import Run

_SAMPLE = Stream(0, "points of a chart")  # not the run's seed: runs on one corpus show the same instances


def chart_rows(run: Run, chart: Chart) -> list[dict[str, Any]]:
    """One row an instance: what the chart needs, `id`, `decided` and `label_name` (class names as printed); None where
    undefined. Of many instances a chart of points has a sample."""
    return select(run_rows(run, [chart]), chart)


def run_rows(run: Run, charts: Sequence[Chart]) -> pl.DataFrame:
    """The rows of several charts together."""
    wanted = {"decision", "label"}.union(*((*chart.columns, *chart.optional) for chart in charts))
    frame = instance_rows(run, wanted)
    names = [printable(name) for name in run.classes]
    indices = list(range(len(names)))
    named = {
        new: pl.col(old).replace_strict(indices, names, default=None, return_dtype=pl.String)
        for new, old in (("decided", "decision"), ("label_name", "label"))
    }
    return frame.with_columns(pl.selectors.float().fill_nan(None), **named)


def select(frame: pl.DataFrame, chart: Chart) -> list[dict[str, Any]]:
    """A chart's rows among those of several."""
    if chart.points is not None:
        frame = frame.filter(sampled(frame["id"].to_list(), chart.points))
    there = [name for name in (*chart.columns, *chart.optional) if name in frame.columns]
    return frame.select("id", "decided", "label_name", *there).to_dicts()


def sampled(ids: Sequence[str], points: int) -> NDArray[np.bool_]:
    """Which instances a chart of at most `points` shows, whatever their order."""
    if len(ids) <= points:
        return np.ones(len(ids), dtype=np.bool_)
    drawn = _SAMPLE.bits(keys(ids))
    return np.asarray(drawn <= np.partition(drawn, points - 1)[points - 1])
