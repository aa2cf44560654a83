"""Figures that the papers published, to be set beside ours."""

from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import NamedTuple

import polars as pl


class Tau(NamedTuple):
    """A cell of Jain & Wallace's Table 2."""

    mean: float
    std: float
    significant: float  # share of instances with p <= 0.05


def table2(corpus: str, encoder: str, measure: str, decision: int | None) -> Tau | None:
    """What the paper gives for Kendall's tau of attention and a measure, by class or (None) over all; None where it
    gives nothing."""
    short = {"gradient": "gradient", "leave_one_out": "loo"}.get(measure)
    frame = _table2()
    columns = [f"{short}_{encoder}_{name}" for name in Tau._fields]
    group = "overall" if decision is None else str(decision)
    row = frame.filter((pl.col("corpus") == corpus) & (pl.col("class") == group))
    if not len(row) or not set(columns) <= set(frame.columns):
        return None
    return Tau(*row.select(columns).row(0))


@cache
def _table2() -> pl.DataFrame:
    return pl.read_csv(BytesIO(files(__name__).joinpath("jain_wallace_table2.csv").read_bytes()))
