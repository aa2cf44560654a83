"""A verdict: may this attention be shown as an explanation?"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

from heedful.verdict.signals import Level

Answer = Literal["yes", "with caution", "no"]
Outcome = Literal["met", "not met", "open", "untested"]

INSTANCES = pl.Schema({"id": pl.String(), "answer": pl.String(), "reasons": pl.List(pl.String)})


@dataclass(frozen=True)
class Criterion:
    """One criterion: what was asked, what was found, what it means."""

    name: str
    question: str
    decisive: bool
    value: float | None  # None: undefined
    low: float | None
    high: float | None
    n: int  # instances it was tested on
    threshold: float
    least: bool  # whether the value has to reach the threshold; otherwise it may not exceed it
    outcome: Outcome
    words: str


@dataclass(frozen=True)
class Better:
    """A map that finds what decides clearly better than attention."""

    method: str
    by: float  # mean difference of comprehensiveness
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer for a model, the criteria it follows from, and the answer for each instance."""

    answer: Answer
    words: str
    level: Level  # where items were erased
    criteria: tuple[Criterion, ...]
    limits: tuple[str, ...]  # why it is no yes, whatever the criteria say
    better: Better | None
    instances: pl.DataFrame  # id, answer, reasons

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "answer": self.answer,
            "words": self.words,
            "level": self.level,
            "criteria": [asdict(criterion) for criterion in self.criteria],
            "limits": list(self.limits),
            "better": None if self.better is None else asdict(self.better),
            "instances": self.instances.to_dict(as_series=False),
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> "Verdict":
        """The verdict that was written so."""
        return cls(
            answer=told["answer"],
            words=told["words"],
            level=told["level"],
            criteria=tuple(Criterion(**criterion) for criterion in told["criteria"]),
            limits=tuple(told["limits"]),
            better=None if told["better"] is None else Better(**told["better"]),
            instances=pl.DataFrame(told["instances"], schema=INSTANCES),
        )
