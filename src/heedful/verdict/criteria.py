"""The criteria of the verdict: each a question whose yes speaks for showing attention (docs/audit-calibration.md)."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from heedful.verdict.signals import ROUNDING, Level


class Asked(NamedTuple):
    """One criterion."""

    name: str
    question: str
    what: Callable[[str], str]  # the value in words
    fails: str  # what is wrong with an instance that does not meet it
    decisive: bool  # the answer is no if it is clearly not met, and never yes if it was not tested
    least: bool = True  # the value has to be the threshold at least; otherwise at most


CRITERIA = (
    Asked(
        "permutation",
        "Does the output move when the weights change places?",
        lambda value: f"Shuffled weights move the output by {value} (TVD)",
        "shuffling its weights hardly moves the output",
        decisive=True,
    ),
    Asked(
        "lead",
        "Do the most attended items matter more than random ones?",
        lambda value: f"Erasing the most attended items costs the decision more than erasing random ones in {value}",
        "its most attended items matter no more than random ones",
        decisive=True,
    ),
    Asked(
        "against",
        "Does the most attended item argue for the decision, and rarely against it?",
        lambda value: f"The most attended item argues against the decision in {value}",
        "its most attended item argues against the decision",
        decisive=False,
        least=False,
    ),
    Asked(
        "race",
        "Does attention find what decides about as well as attribution does?",
        lambda value: f"Erasing by attention gains {value} of what the best method gains over random order",
        "another method finds much better what decides",
        decisive=True,
    ),
    Asked(
        "replacement",
        "Is it felt when all items get the same weight?",
        lambda value: f"Uniform weights move the output by {value} (TVD)",
        "uniform weights do almost as well",
        decisive=False,
    ),
)


def quantities() -> dict[str, pl.Expr]:
    """What each criterion takes the mean of, from the columns of signals; the race is a ratio of two means."""
    lead = pl.col("lead")
    ahead = pl.when(lead.abs() <= ROUNDING).then(0.5).otherwise((lead > 0).cast(pl.Float64))
    return {
        "permutation": pl.col("permuted_tvd"),
        "lead": pl.when(lead.is_not_null()).then(ahead),
        "against": pl.col("against").cast(pl.Float64),
        "replacement": pl.col("replaced_tvd"),
    }


FILE = Path(__file__).with_name("thresholds.toml")


@dataclass(frozen=True)
class Bars:
    """What is asked of each criterion: at least so much (`against`: at most)."""

    permutation: float  # TVD under permuted weights
    lead: float  # share of instances
    against: float  # share of instances
    race: float  # of the best method's gain over random order
    replacement: float  # TVD under uniform weights
    better: float  # by how much more a method's first items must matter to be called better than attention


@dataclass(frozen=True)
class Thresholds:
    """Bars for items erased at the input, and for items erased at the attention: the figures are not alike."""

    input: Bars
    attention: Bars
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def at(self, level: Level) -> Bars:
        """The bars of a level."""
        return self.input if level == "input" else self.attention


def read_thresholds(path: Path = FILE) -> Thresholds:
    """Thresholds from a file."""
    with path.open("rb") as file:
        told = tomllib.load(file)
    return Thresholds(Bars(**told["input"]), Bars(**told["attention"]), told.get("provenance", {}))


CALIBRATED = read_thresholds()
