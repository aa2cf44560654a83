"""Thresholds from models of known faithfulness: in the gap between those that break a criterion and faithful ones.

The gap begins where the models that break a criterion end (settings.py says where that is), and ends where all but the
lowest 5 % of the faithful ones begin. The two thresholds of a criterion are a quarter of the gap apart. Moved together
through their gaps, thresholds draw the operating curve.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.calibration.factory.kinds import FAITHFUL
from benchmarks.calibration.settings import APART, BREAKS, DIGITS, ENDED, IN_USE, TAIL, WIDTH
from heedful.verdict.criteria import CALIBRATED, Threshold, Thresholds

SMALLEST = 0.001  # of a threshold: none is 0 or 1, which no mean could be beyond


class Means(NamedTuple):
    """A model's means over the texts in which enough is at stake, without classes in which nothing can be won."""

    kind: str
    label: str
    rule: str
    architecture: str
    values: Mapping[str, float | None]  # by criterion


class Gap(NamedTuple):
    """Where models that break a criterion end, and where faithful ones begin."""

    low: float
    high: float
    broken: int  # models
    faithful: int

    def at(self, strictness: float) -> Threshold:
        """Thresholds a quarter of the gap apart, around its middle at 0.5."""
        low, high = self.low, self.high
        if low > high:  # no gap
            middle = (low + high) / 2
            low, high = middle - APART / WIDTH, middle + APART / WIDTH
        sides = (low + (strictness + side * WIDTH / 2) * (high - low) for side in (-1, 1))
        return Threshold(*(round(min(max(bar, SMALLEST), 1 - SMALLEST), DIGITS) for bar in sides))


class Family(NamedTuple):
    """Thresholds of any strictness: around 0 where models that break criteria end, around 1 where faithful begin."""

    gaps: Mapping[str, Gap]

    @classmethod
    def of(cls, models: Sequence[Means]) -> "Family":
        """The gaps of all criteria that are fixed here and that there are models on both sides of."""
        good = [model for model in models if model.label == FAITHFUL]
        gaps = {}
        for name, kinds in BREAKS.items():
            broken = _values(name, [model for model in models if model.kind in kinds])
            faithful = _values(name, good)
            if broken and faithful:
                low, high = float(np.quantile(broken, ENDED[name])), float(np.quantile(faithful, TAIL))
                gaps[name] = Gap(low, high, len(broken), len(faithful))
        return cls(gaps)

    def at(self, strictness: float = IN_USE) -> Thresholds:
        """All thresholds; those that nothing is fixed for here stay as they are."""
        criteria = {**CALIBRATED.criteria, **{name: gap.at(strictness) for name, gap in self.gaps.items()}}
        return Thresholds(criteria, CALIBRATED.better)


def _values(name: str, models: Sequence[Means]) -> list[float]:
    return [value for model in models if (value := model.values[name]) is not None]
