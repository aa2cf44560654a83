"""The texts that tests which re-run a model read: a seeded sample, or as many as the verdict takes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from heedful.evidence import collect, decide, scan
from heedful.list_columns import ragged_column
from heedful.ragged import Indices
from heedful.randomness import Stream, keys, sample
from heedful.verdict.rule import judge
from heedful.verdict.signals import ROUNDING, signals
from heedful.verdict.verdict import Verdict

AUTO = "auto"
FIRST, NEXT = 32, 16  # texts of the first part and of the others: what a kill can lose, and how often the rule is asked
MOST = 1024  # texts that `auto` tests at most
TYPICAL = 96  # texts that it takes with most models of the calibration, or fewer


class Population(NamedTuple):
    """All texts of a run or an audit, and how they are decided."""

    ids: list[str]
    decided: Indices  # (n,)


def population(evidence: Path) -> Population:
    """The decisions of an evidence file."""
    frame = collect(scan(evidence).select("id", "output"), evidence)
    output = ragged_column(frame, "output", "numbers", str(evidence))
    return Population(frame["id"].to_list(), decide(output.values.reshape(len(output), -1)))


def drawn(everyone: Population, size: int | str, seed: int) -> Indices:
    """The rows to test, in order: a seeded sample (0: all), or (auto) the decided classes in turn."""
    bits = Stream(seed, "sample").bits(keys(everyone.ids))
    if size != AUTO:
        rows = sample(everyone.ids, int(size), seed)
        return rows[np.argsort(bits[rows], kind="stable")]
    order = np.lexsort((bits, everyone.decided))
    _, firsts, counts = np.unique(everyone.decided[order], return_index=True, return_counts=True)
    turn = np.arange(len(order)) - np.repeat(firsts, counts)
    return order[np.lexsort((bits[order], turn))][:MOST]


def ends(count: int) -> list[int]:
    """Where each part of so many texts ends.

    >>> ends(70)
    [32, 48, 64, 70]
    """
    return [*range(FIRST, count, NEXT), count] if count else []


def verdict_so_far(
    frames: Sequence[pl.DataFrame],
    *,
    classes: Sequence[str],
    population: Mapping[int, int],
    rounding: float = ROUNDING,
) -> Verdict:
    """The verdict on the parts of the test `highlights` that were made so far."""
    found = signals({"highlights": pl.concat(frames, how="diagonal_relaxed")}, rounding=rounding)
    return judge(found, classes=classes, population=population)
