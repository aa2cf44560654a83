"""Thresholds of the verdict, and where they come from: `python -m benchmarks.calibration` writes thresholds.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.audits.signals import Level

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
