"""How often each answer is given, with exact binomial intervals (Clopper & Pearson 1934)."""

from collections.abc import Iterable
from dataclasses import dataclass

from scipy import stats


@dataclass(frozen=True)
class Rate:
    """So many of all."""

    count: int
    n: int

    @classmethod
    def of(cls, flags: Iterable[bool]) -> "Rate":
        """How many hold."""
        listed = list(flags)
        return cls(sum(listed), len(listed))

    @property
    def share(self) -> float:
        """NaN of nothing."""
        return self.count / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """At 95 %, exact."""
        if not self.n:
            return 0.0, 1.0
        found = stats.binomtest(self.count, self.n).proportion_ci(method="exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        if not self.n:
            return "none"
        low, high = self.interval
        return f"{self.count:,} of {self.n:,} ({100 * low:.1f} to {100 * high:.1f} %)"
