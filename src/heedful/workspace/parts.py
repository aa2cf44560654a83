"""Parted: a stage whose result is made part by part, each by itself, so that it can be resumed and shared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class StageParts:
    """The parts of a stage."""

    title: str
    pieces: Sequence[tuple[int, int]]  # first instance of each part, and the one behind its last
    steps: Sequence[int]  # what each counts for in the progress
    part: Callable[[int, int], pl.DataFrame]
    about: dict[str, str]  # metadata of the merged file
    told: Callable[[], str]  # what the merged file says, in a few words
    unit: str = ""  # of the steps, if it is not the instance
