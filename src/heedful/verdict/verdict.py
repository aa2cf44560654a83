"""A verdict: may this attention be shown as an explanation? The answer, and the criteria it follows from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

from heedful.damage import first_line, panics_as_errors
from heedful.errors import BadInput
from heedful.verdict.criteria import Part
from heedful.verdict.signals import Level

Answer = Literal["yes", "with caution", "no", "not determined"]
Outcome = Literal["met", "at least between", "between", "at most between", "not met", "moot", "open", "untested"]

ANSWERS: tuple[Answer, ...] = ("yes", "with caution", "no", "not determined")
QUESTION = "May this attention be shown as an explanation?"
# as people read them
OUTCOMES: dict[Outcome, str] = {
    "met": "met",
    "at least between": "met or in between",
    "between": "in between",
    "at most between": "in between or not met",
    "not met": "not met",
    "moot": "nothing to win",
    "open": "not determined",
    "untested": "not tested",
}


@dataclass(frozen=True)
class Criterion:
    """One criterion over some texts: its question, the mean with its 95 % interval, thresholds and outcome."""

    name: str
    part: Part  # which of the two questions it belongs to
    question: str
    decisive: bool  # whether the answer depends on it
    value: float | None  # None: undefined
    low: float | None
    high: float | None
    n: int  # texts it was tested on
    winnable: int  # of them, texts where enough is at stake
    failed: float  # a mean clearly below this fails the criterion
    threshold: float  # a mean clearly above this meets it
    outcome: Outcome
    words: str

    def display(self) -> dict[str, str]:
        """`value`, `interval` and `threshold` as text."""
        value, interval = "undefined" if self.n else "not tested", ""
        if self.value is not None and self.low is not None and self.high is not None:
            value, interval = percent(self.value), f"{percent(self.low)} to {percent(self.high)}"
        return {"value": value, "interval": interval, "threshold": f"at least {percent(self.threshold)}"}


@dataclass(frozen=True)
class ClassVerdict:
    """The answer for the texts that are decided for one class."""

    decision: int
    name: str
    answer: Answer
    words: str
    texts: int  # decided so, tested or not
    tested: int
    answers: Mapping[str, int]  # how many tested texts have each answer of their own
    criteria: tuple[Criterion, ...]


@dataclass(frozen=True)
class Better:
    """An attribution method that finds the deciding words clearly better than attention."""

    method: str
    by: float  # mean difference of what its words gain over random ones
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer for a model, its criteria, and the answers for each class and each text."""

    answer: Answer
    words: str
    level: Level  # whether words were deleted from the texts, or only their attention changed
    criteria: tuple[Criterion, ...]  # over the texts of all classes in which something can be won
    classes: tuple[ClassVerdict, ...]
    limits: tuple[str, ...]  # why the answer cannot be yes, whatever the criteria say
    better: Better | None
    more: int | None  # about how many more texts would determine the answer; None: it is determined, or unknown
    answers: Mapping[str, int]  # how many tested texts have each answer of their own
    table: pl.LazyFrame  # of tested texts; it may be larger than all the rest, and is read only where it is asked for

    @property
    def instances(self) -> pl.DataFrame:
        """The answer for each text that was tested: `id`, `decision`, `answer`, `reasons`."""
        try:
            with panics_as_errors():
                return self.table.collect()
        except pl.exceptions.PolarsError as error:
            raise BadInput(
                f"the answers for single texts are damaged ({first_line(error)}): make them again"
            ) from error

    @property
    def tested(self) -> bool:
        """Whether any criterion was tested."""
        return any(criterion.n for criterion in self.criteria)

    @property
    def contradicting(self) -> float | None:
        """Share of the texts with an answer of their own that say yes to a no, or no to a yes."""
        opposite = {"yes": "no", "no": "yes"}.get(self.answer)
        known = sum(count for answer, count in self.answers.items() if answer != "not determined")
        return self.answers.get(opposite, 0) / known if opposite and known else None

    def to_json(self) -> dict[str, Any]:
        """Plain values, without the answers for single texts."""
        return {
            "answer": self.answer,
            "words": self.words,
            "level": self.level,
            "criteria": [asdict(criterion) for criterion in self.criteria],
            "classes": [asdict(each) for each in self.classes],
            "limits": list(self.limits),
            "better": None if self.better is None else asdict(self.better),
            "more": self.more,
            "answers": dict(self.answers),
            "contradicting": self.contradicting,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any], instances: pl.LazyFrame) -> "Verdict":
        """The verdict that `to_json` wrote, and its instances."""
        classes = tuple(ClassVerdict(**{**each, "criteria": _criteria(each["criteria"])}) for each in values["classes"])
        return cls(
            answer=values["answer"],
            words=values["words"],
            level=values["level"],
            criteria=_criteria(values["criteria"]),
            classes=classes,
            limits=tuple(values["limits"]),
            better=None if values["better"] is None else Better(**values["better"]),
            more=values["more"],
            answers=values["answers"],
            table=instances,
        )


def _criteria(values: Any) -> tuple[Criterion, ...]:
    return tuple(Criterion(**each) for each in values)


def percent(share: float) -> str:
    """A share as text.

    >>> percent(0.305)
    '30 %'
    """
    return f"{100 * share:.0f} %"
