"""Frames of experiments, given back to be summed up."""

from collections.abc import Iterable

import polars as pl

from heedful.errors import BadInput


def check_frame(frame: object, experiment: str, columns: Iterable[str]) -> None:
    """Raise unless it is the frame of an experiment: has the columns that tell it from others."""
    if not isinstance(frame, pl.DataFrame):
        raise BadInput(f"the frame of `{experiment}` is needed, as a polars DataFrame, and not {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise BadInput(f"the frame of `{experiment}` is needed, and this one has no column '{missing[0]}'")
