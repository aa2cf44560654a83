"""The criteria of the verdict and their calibrated thresholds (docs/audit-calibration.md).

"Word" stands for whatever the map weighs: tokens, words or sentences.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from heedful.verdict.signals import ROUNDING, Level

FILE = Path(__file__).with_name("thresholds.toml")


class CriterionSpec(NamedTuple):
    """What a criterion asks."""

    name: str
    question: str
    finding: str  # the result in words, with {value}
    failure: str  # what is wrong with an instance that does not meet it
    decisive: bool  # clearly not met: the answer is no; not tested: it is never yes
    test: str  # the test that measures it
    least: bool = True  # the value must be at least the threshold; otherwise at most


CRITERIA = (
    CriterionSpec(
        "permutation",
        "Does the output change when the weights are shuffled?",
        "Shuffling the weights moves the output by {value} (TVD)",
        "shuffling its weights hardly moves the output",
        decisive=True,
        test="permutation",
    ),
    CriterionSpec(
        "lead",
        "Do the top-attended words matter more than random ones?",
        "The decision loses more probability without the top-attended words than without random ones in {value} of "
        "texts",
        "its top-attended words matter no more than random ones",
        decisive=True,
        test="erasure",
    ),
    CriterionSpec(
        "against",
        "How often does the decision become more likely without the top-attended word?",
        "The decision becomes more likely without the top-attended word in {value} of texts",
        "the decision becomes more likely without its top-attended word",
        decisive=False,
        test="violation",
        least=False,
    ),
    CriterionSpec(
        "race",
        "Does attention find the deciding words about as well as the best attribution method?",
        "Attention achieves {value} of the best method's gain over random order",
        "another method finds its deciding words much better",
        decisive=True,
        test="erasure",
    ),
    CriterionSpec(
        "replacement",
        "Does the output change when every word gets equal weight?",
        "Equal weights move the output by {value} (TVD)",
        "equal weights give almost the same output",
        decisive=False,
        test="substitution",
    ),
)


@dataclass(frozen=True)
class LevelThresholds:
    """The threshold of each criterion: a minimum (`against`: a maximum)."""

    permutation: float  # TVD under permuted weights
    lead: float  # share of instances
    against: float  # share of instances
    race: float  # share of the best method's gain over random order
    replacement: float  # TVD under uniform weights
    better: float  # by how much more a method's first items must matter to be called better than attention


@dataclass(frozen=True)
class Thresholds:
    """Thresholds for items erased at the input and for items erased at the attention: their figures differ."""

    input: LevelThresholds
    attention: LevelThresholds
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def at(self, level: Level) -> LevelThresholds:
        """The thresholds of a level."""
        return self.input if level == "input" else self.attention


def read_thresholds(path: Path = FILE) -> Thresholds:
    """Thresholds from a TOML file."""
    with path.open("rb") as file:
        values = tomllib.load(file)
    return Thresholds(
        LevelThresholds(**values["input"]), LevelThresholds(**values["attention"]), values.get("provenance", {})
    )


CALIBRATED = read_thresholds()


def quantities() -> dict[str, pl.Expr]:
    """The per-instance value that each criterion averages; the race is a ratio of two means and not among them."""
    lead = pl.col("lead")
    ahead = pl.when(lead.abs() <= ROUNDING).then(0.5).otherwise((lead > 0).cast(pl.Float64))
    return {
        "permutation": pl.col("permuted_tvd"),
        "lead": pl.when(lead.is_not_null()).then(ahead),
        "against": pl.col("against").cast(pl.Float64),
        "replacement": pl.col("replaced_tvd"),
    }
