"""A verdict: may this attention be shown as an explanation? The answer, and the criteria it follows from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

from heedful.verdict.signals import Level

Answer = Literal["yes", "with caution", "no"]
Outcome = Literal["met", "not met", "open", "untested"]

QUESTION = "May this attention be shown as an explanation?"
# as people read them
OUTCOMES: dict[Outcome, str] = {"met": "met", "not met": "not met", "open": "inconclusive", "untested": "not tested"}
SHARES = ("lead", "against", "race")  # criteria whose figures are percentages
INSTANCES = pl.Schema({"id": pl.String(), "answer": pl.String(), "reasons": pl.List(pl.String)})


@dataclass(frozen=True)
class Criterion:
    """One criterion: its question, the figure with its 95 % interval, the threshold and the outcome."""

    name: str
    question: str
    decisive: bool
    value: float | None  # None: undefined
    low: float | None
    high: float | None
    n: int  # instances it was tested on
    threshold: float
    least: bool  # True: the value must reach the threshold; False: it must not exceed it
    outcome: Outcome
    words: str

    def display(self) -> dict[str, str]:
        """`value`, `interval` and `threshold` as text."""
        value, interval = "undefined" if self.n else "not tested", ""
        if self.value is not None and self.low is not None and self.high is not None:
            value = show(self.name, self.value)
            interval = f"{show(self.name, self.low)} to {show(self.name, self.high)}"
        side = "at least" if self.least else "at most"
        return {"value": value, "interval": interval, "threshold": f"{side} {show(self.name, self.threshold)}"}


@dataclass(frozen=True)
class Better:
    """An attribution method that finds the deciding words clearly better than attention."""

    method: str
    by: float  # mean difference in comprehensiveness
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer for a model, its criteria, and the answer for each instance."""

    answer: Answer
    words: str
    level: Level  # where items were erased
    criteria: tuple[Criterion, ...]
    limits: tuple[str, ...]  # why the answer cannot be yes, whatever the criteria say
    better: Better | None
    table: pl.LazyFrame  # of instances; it may be larger than all the rest, and is read only where it is asked for

    @property
    def instances(self) -> pl.DataFrame:
        """The answer for each instance: `id`, `answer`, `reasons`."""
        return self.table.collect()

    @property
    def tested(self) -> bool:
        """Whether any criterion was tested."""
        return any(criterion.n for criterion in self.criteria)

    def to_json(self) -> dict[str, Any]:
        """Plain values, without the answers for single instances."""
        criteria = [asdict(criterion) for criterion in self.criteria]
        values: dict[str, Any] = {"answer": self.answer, "words": self.words, "level": self.level, "criteria": criteria}
        better = None if self.better is None else asdict(self.better)
        return values | {"limits": list(self.limits), "better": better}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], instances: pl.LazyFrame) -> "Verdict":
        """The verdict that `to_json` wrote, and its instances."""
        return cls(
            answer=values["answer"],
            words=values["words"],
            level=values["level"],
            criteria=tuple(Criterion(**criterion) for criterion in values["criteria"]),
            limits=tuple(values["limits"]),
            better=None if values["better"] is None else Better(**values["better"]),
            table=instances,
        )


def show(name: str, value: float) -> str:
    """A criterion's figure as text: a percentage, or three digits as the thresholds have."""
    return f"{100 * value:.0f} %" if name in SHARES else f"{value:.3f}"
