"""Thresholds from planted subjects: halfway between subjects that break a criterion by construction and faithful ones.

All but the worst 5 % of the faithful and the best 5 % of the others are on their sides of the middle, if any threshold
can tell them apart. Moved together from one side to the other, thresholds draw the operating curve.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.calibration.measuring import Case
from benchmarks.calibration.planted import Kind
from heedful.verdict.criteria import CRITERIA, LevelThresholds
from heedful.verdict.rule import answer_of, criteria_of
from heedful.verdict.signals import Level
from heedful.verdict.verdict import Answer

UNMOVED: tuple[Kind, ...] = ("random", "distracted", "unused")  # weights hardly matter
ELSEWHERE: tuple[Kind, ...] = ("random", "distracted", "opposing", "shifted")  # other words decide
BREAKS = {
    "permutation": UNMOVED,
    "lead": ELSEWHERE,
    "against": ELSEWHERE,
    "race": ELSEWHERE,
    "replacement": UNMOVED,
}
TAIL = 0.05
MIDDLE = 0.5
DIGITS = 3


class Family(NamedTuple):
    """Thresholds of any strictness: at 0 where subjects that break a criterion end, at 1 where faithful ones begin."""

    broken: dict[str, float]
    faithful: dict[str, float]
    better: float

    @classmethod
    def of(cls, cases: Sequence[Case], level: Level) -> "Family":
        """A method is called better only if it is so by more than in nearly all faithful subjects."""
        broken, faithful = {}, {}
        good = [case for case in cases if case.plan.faithful]
        for spec in CRITERIA:
            bad = [case for case in cases if case.plan.kind in BREAKS[spec.name] and seen(case, level)]
            broken[spec.name] = _quantile(bad, level, spec.name, 1 - TAIL if spec.least else TAIL)
            faithful[spec.name] = _quantile(good, level, spec.name, TAIL if spec.least else 1 - TAIL)
        ahead = [max((rival.by for rival in case.found[level].rivals), default=0.0) for case in good]
        return cls(broken, faithful, float(np.quantile(ahead, 1 - TAIL)))

    def at(self, strictness: float = MIDDLE) -> LevelThresholds:
        """Thresholds between the two sides, or beyond them."""
        bars = {name: low + strictness * (self.faithful[name] - low) for name, low in self.broken.items()}
        return LevelThresholds(**{name: round(bar, DIGITS) for name, bar in {**bars, "better": self.better}.items()})


def _quantile(cases: Iterable[Case], level: Level, name: str, share: float) -> float:
    values = [case.found[level].figures[name].value for case in cases]
    return float(np.quantile([value for value in values if value is not None], share))


def answer(case: Case, level: Level, bars: LevelThresholds) -> Answer:
    """What the criteria say, at the attention too: before it is lowered because no text was changed."""
    return answer_of(criteria_of(case.found[level], bars), ())


def seen(case: Case, level: Level) -> bool:
    """Whether a level can tell: states that are about other words look alike at the attention."""
    return level == "input" or case.plan.kind != "shifted"
