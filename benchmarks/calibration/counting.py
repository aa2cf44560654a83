"""How often each answer is given, with exact binomial intervals (Clopper & Pearson 1934)."""

from collections.abc import Sequence
from typing import NamedTuple

from scipy import stats

from benchmarks.calibration.fitting import Family, answer
from benchmarks.calibration.measuring import Case
from heedful.verdict.criteria import LevelThresholds
from heedful.verdict.signals import Level

ANSWERS = ("yes", "with caution", "no")
STRICTNESS = tuple(round(-2 + 0.05 * step, 2) for step in range(71))  # to 1.5


class Rate(NamedTuple):
    """So many of all."""

    count: int
    n: int

    @property
    def share(self) -> float:
        return self.count / self.n

    @property
    def interval(self) -> tuple[float, float]:
        found = stats.binomtest(self.count, self.n).proportion_ci(method="exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.count} of {self.n} ({100 * low:.1f} to {100 * high:.1f} %)"


def rates(cases: Sequence[Case], level: Level, bars: LevelThresholds) -> dict[str, Rate]:
    """How often each answer is given."""
    told = [answer(case, level, bars) for case in cases]
    return {name: Rate(told.count(name), len(told)) for name in ANSWERS}


def operating(cases: Sequence[Case], level: Level, family: Family) -> list[dict[str, float | str]]:
    """True against false answers as all thresholds move together."""
    faithful = [case for case in cases if case.plan.faithful]
    others = [case for case in cases if not case.plan.faithful]
    rows: list[dict[str, float | str]] = []
    for strictness in STRICTNESS:
        bars = family.at(strictness)
        good, bad = rates(faithful, level, bars), rates(others, level, bars)
        rows.append(
            {
                "level": level,
                "strictness": strictness,
                "true yes": good["yes"].share,
                "false yes": bad["yes"].share,
                "true no": bad["no"].share,
                "false no": good["no"].share,
            }
        )
    return rows
