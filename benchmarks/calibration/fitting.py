"""Thresholds from planted subjects: one number, strictness, moves all of them together.

At strictness 0 every threshold is where attention that means nothing would be; at 1, where half of the faithful subjects
are. Few numbers are fitted, so that few can be fitted too well.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.calibration.measuring import Case
from heedful.audits.rule import answer_of, criteria_of
from heedful.audits.signals import Level
from heedful.audits.thresholds import Bars
from heedful.audits.verdict import Answer

# without any effect of weights; as often as not
NOTHING = {"permutation": 0.0, "lead": 0.5, "against": 0.5, "race": 0.0, "replacement": 0.0}
STRICTNESS = tuple(round(0.02 * step, 2) for step in range(1, 61))
DIGITS = 3


class Fitted(NamedTuple):
    """The chosen thresholds, and where they lie."""

    bars: Bars
    strictness: float
    alike: tuple[float, float]  # the range of strictness that does as well on the subjects that it was fixed on


def fit(cases: Sequence[Case], level: Level) -> Fitted:
    """The strictness with fewest wrong answers (yes to unfaithful, no to faithful), among those the one with most right
    ones, in the middle of the range where that is so."""
    family = Family.of(cases, level)
    scores = []
    for strictness in STRICTNESS:
        told = [(case.plan.faithful, answer(case, level, family.at(strictness))) for case in cases if seen(case, level)]
        wrong = sum(said == ("no" if faithful else "yes") for faithful, said in told)
        right = sum(said == ("yes" if faithful else "no") for faithful, said in told)
        scores.append((-wrong, right))
    best = [strictness for strictness, score in zip(STRICTNESS, scores, strict=True) if score == max(scores)]
    middle = best[len(best) // 2]
    return Fitted(family.at(middle), middle, (best[0], best[-1]))


class Family(NamedTuple):
    """Thresholds of any strictness."""

    typical: dict[str, float]  # medians of the faithful subjects
    better: float

    @classmethod
    def of(cls, cases: Sequence[Case], level: Level) -> "Family":
        """A method is called better only if it is so by more than in nearly all faithful subjects (95 %)."""
        faithful = [case.found[level] for case in cases if case.plan.faithful]
        values = {name: [found.figures[name].value for found in faithful] for name in NOTHING}
        typical = {name: float(np.median([v for v in some if v is not None])) for name, some in values.items()}
        ahead = [max((rival.by for rival in found.rivals), default=0.0) for found in faithful]
        return cls(typical, float(np.quantile(ahead, 0.95)))

    def at(self, strictness: float) -> Bars:
        """Bars between nothing and what is typical of faithful attention, or beyond."""
        bars = {name: zero + strictness * (self.typical[name] - zero) for name, zero in NOTHING.items()}
        bars["against"] = max(0.0, bars["against"])
        return Bars(**{name: round(bar, DIGITS) for name, bar in {**bars, "better": self.better}.items()})


def answer(case: Case, level: Level, bars: Bars) -> Answer:
    """What the criteria say, at the attention too: before it is lowered because no text was changed."""
    return answer_of(criteria_of(case.found[level], bars), ())


def seen(case: Case, level: Level) -> bool:
    """Whether a level can tell: states that are about other words look alike at the attention."""
    return level == "input" or case.plan.kind != "shifted"
