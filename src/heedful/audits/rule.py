"""The rule: from signals to a verdict. docs/audit-calibration.md has it in words, and shows what it is worth.

`no` if a decisive criterion is clearly not met; `yes` if all that were tested are clearly met; else `with caution`.
Of too few instances, with a decisive criterion untested, or with nothing erased from a text, it is never `yes`.
"""

from collections.abc import Iterable, Sequence

import polars as pl

from heedful.audits.criteria import CRITERIA, Asked
from heedful.audits.instances import judged
from heedful.audits.measuring import Measured, Measurements, measured
from heedful.audits.signals import Level
from heedful.audits.thresholds import CALIBRATED, Bars, Thresholds
from heedful.audits.verdict import Answer, Better, Criterion, Outcome, Verdict

FEW = 30  # instances: of fewer, a bootstrap interval is too narrow to tell anything

_SHARES = ("lead", "against", "race")  # told in per cent
_WORDS = {
    "yes": "Yes, this attention may be shown as an explanation",
    "with caution": "This attention may be shown with caution only",
    "no": "No, this attention should not be shown as an explanation",
}
NOT_ERASED = (
    "items were taken away at the attention only: whether the words at attended positions decide was not tested, "
    "which takes the model"
)


def judge(signals: pl.DataFrame, *, thresholds: Thresholds = CALIBRATED, seed: int = 0) -> Verdict:
    """May this attention be shown? Of the model that gave these signals, and of each instance."""
    level: Level = "input" if len(signals) and signals["level"][0] == "input" else "attention"
    return decided(measured(signals, seed=seed), signals, level, thresholds)


def decided(found: Measurements, signals: pl.DataFrame, level: Level, thresholds: Thresholds) -> Verdict:
    """The verdict that follows from measurements."""
    bars = thresholds.at(level)
    criteria = criteria_of(found, bars)
    limits = _limits(criteria, level)
    answer = answer_of(criteria, limits)
    raced = found.figures["race"].n >= FEW
    better = next((rival for rival in found.rivals if rival.low > bars.better), None) if raced else None
    words = _words(answer, criteria, limits, better)
    return Verdict(answer, words, level, criteria, limits, better, judged(signals, found.best, bars, level))


def criteria_of(found: Measurements, bars: Bars) -> tuple[Criterion, ...]:
    """What measurements say of each criterion."""
    return tuple(_criterion(asked, found.figures[asked.name], getattr(bars, asked.name)) for asked in CRITERIA)


def answer_of(criteria: Iterable[Criterion], limits: Sequence[str]) -> Answer:
    """The answer that follows from the criteria."""
    told = list(criteria)
    if any(criterion.decisive and criterion.outcome == "not met" for criterion in told):
        return "no"
    tested = [criterion for criterion in told if criterion.outcome != "untested"]
    return "yes" if not limits and all(criterion.outcome == "met" for criterion in tested) else "with caution"


def outcome_of(figure: Measured, threshold: float, *, least: bool) -> Outcome:
    """Whether a figure is clearly on the right side of its threshold."""
    if figure.low is None or figure.high is None:
        return "open" if figure.n else "untested"
    if figure.n < FEW:
        return "open"
    low, high, bar = (figure.low, figure.high, threshold) if least else (-figure.high, -figure.low, -threshold)
    return "met" if low >= bar else "not met" if high < bar else "open"


def _criterion(asked: Asked, figure: Measured, threshold: float) -> Criterion:
    outcome = outcome_of(figure, threshold, least=asked.least)
    show = _percent if asked.name in _SHARES else _number
    if outcome == "untested":
        words = "This was not tested."
    elif figure.value is None or figure.low is None or figure.high is None:
        words = "No order of erasing does clearly better than a random one: there is nothing to compete in."
    else:
        side = "at least" if asked.least else "at most"
        words = (
            f"{asked.what(show(figure.value))}, {show(figure.low)} to {show(figure.high)}; "
            f"{side} {show(threshold)} is asked."
        )
        if figure.n < FEW:
            words += f" {_instances(figure.n)} too few to tell."
    return Criterion(asked.name, asked.question, asked.decisive, *figure, threshold, asked.least, outcome, words)


def _limits(criteria: Iterable[Criterion], level: Level) -> tuple[str, ...]:
    """What stands in the way of a yes."""
    decisive = [criterion for criterion in criteria if criterion.decisive]
    limits = [f"not tested: {c.question}" for c in decisive if c.outcome == "untested"]
    few = [c for c in decisive if 0 < c.n < FEW]
    if few:
        limits.append(f"tested on {min(c.n for c in few)} instances; {FEW} at least are needed for a yes")
    if level == "attention":
        limits.append(NOT_ERASED)
    return tuple(limits)


def _words(answer: Answer, criteria: Iterable[Criterion], limits: Sequence[str], better: Better | None) -> str:
    told = list(criteria)
    counts = {outcome: sum(c.outcome == outcome for c in told) for outcome in ("met", "not met", "open", "untested")}
    parts = [f"{number} {outcome}" for outcome, number in counts.items() if number]
    words = f"{_WORDS[answer]}: of {len(told)} criteria {', '.join(parts)}."
    if answer == "with caution" and limits and not counts["not met"] and not counts["open"]:
        words += f" It is no yes because: {'; '.join(limits)}."
    if better is not None:
        words += f" {better.method} finds better what decides (by {better.by:.2f})."
    return words


def _instances(n: int) -> str:
    return "1 instance is" if n == 1 else f"{n} instances are"


def _number(value: float) -> str:
    return f"{value:.3f}"  # thresholds have three digits


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
