"""The rule: from signals to a verdict. docs/audit-calibration.md has it in words, and shows what it is worth.

`no` if a decisive criterion is clearly not met; `yes` if all that were tested are clearly met; else `with caution`.
Of too few instances, with a decisive criterion untested, or with nothing erased from a text, it is never `yes`.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

import numpy as np
import polars as pl

from heedful.measures import Floats, bootstrap_means, percentiles
from heedful.verdict.criteria import CALIBRATED, CRITERIA, Asked, Bars, Thresholds, quantities
from heedful.verdict.signals import FALL, ROUNDING, Level, methods_of
from heedful.verdict.verdict import Answer, Better, Criterion, Outcome, Verdict

TEXT_NOT_ERASED = "no word was erased from its text"


def judge_texts(signals: pl.DataFrame, best: str | None, bars: Bars, level: Level) -> pl.DataFrame:
    """`id`, `answer` and `reasons`: why it is no yes. `best` is the method that attention is compared with."""
    frame = signals.select("id", **_met(best, bars))
    fails = {asked.name: ~pl.col(asked.name) for asked in CRITERIA}
    no = reduce(or_, (fails[asked.name].fill_null(False) for asked in CRITERIA if asked.decisive))
    yes = reduce(and_, (pl.col(asked.name).fill_null(not asked.decisive) for asked in CRITERIA)) & (level == "input")
    reasons: list[pl.Expr] = [pl.when(fails[asked.name]).then(pl.lit(asked.fails)) for asked in CRITERIA]
    reasons += [
        pl.when(pl.col(asked.name).is_null()).then(pl.lit(f"not tested: {asked.question}")) for asked in CRITERIA
    ]
    reasons.append(pl.lit(TEXT_NOT_ERASED if level == "attention" else None, dtype=pl.String))
    return frame.select(
        "id",
        pl.when(no).then(pl.lit("no")).when(yes).then(pl.lit("yes")).otherwise(pl.lit("with caution")).alias("answer"),
        pl.concat_list(reasons).list.drop_nulls().alias("reasons"),
    )


def _met(best: str | None, bars: Bars) -> dict[str, pl.Expr]:
    """Whether an instance meets each criterion; null where it was not tested."""
    values = quantities()
    race = pl.lit(None, dtype=pl.Boolean)
    if best is not None:
        own, other = (pl.col(f"{name}{FALL}") - pl.col(f"random{FALL}") for name in ("attention", best))
        race = own >= bars.race * other - ROUNDING
    return {
        "permutation": values["permutation"] >= bars.permutation,
        "lead": values["lead"] > 0.5,
        "against": values["against"] == 0,
        "race": race,
        "replacement": values["replacement"] >= bars.replacement,
    }


DRAWS = 2000


class Measured(NamedTuple):
    """A figure over the `n` instances in which it is defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Measurements(NamedTuple):
    """All that a verdict needs to know of the signals."""

    figures: dict[str, Measured]  # of each criterion
    best: str | None  # the method whose first items matter most
    gains: Measured  # by how much these matter more than random ones
    rivals: list[Better]  # every method's difference from attention, the greatest first


def measured(signals: pl.DataFrame, *, seed: int, draws: int = DRAWS) -> Measurements:
    """Means, and intervals of 95 % by bootstrap over instances; in whatever order these come."""
    ordered = signals.sort("id")
    figures = {name: _mean(_values(ordered, value), seed, draws) for name, value in quantities().items()}
    methods, falls = methods_of(ordered), {}
    for name in ("attention", "random", *methods):
        falls[name] = _values(ordered, pl.col(f"{name}{FALL}"))
    known = [name for name in methods if not np.isnan(falls[name]).all()]
    best = max(known, key=lambda name: float(np.nanmean(falls[name])), default=None)
    gains, figures["race"] = Measured(), Measured()
    if best is not None:
        table = np.stack([falls["attention"] - falls["random"], falls[best] - falls["random"]], axis=1)  # (n, 2)
        gains, figures["race"] = _ratio(table[~np.isnan(table).any(axis=1)], seed, draws)
    rivals = []
    for name in known:
        ahead = _mean(falls[name] - falls["attention"], seed, draws)
        if ahead.value is not None and ahead.low is not None and ahead.high is not None:
            rivals.append((Better(name, ahead.value, ahead.low, ahead.high), ahead.n))
    rivals.sort(key=lambda rival: -rival[0].by)
    return Measurements(figures, best, gains, [rival for rival, _ in rivals])


def _values(signals: pl.DataFrame, value: pl.Expr) -> Floats:
    column = signals.select(value.cast(pl.Float64).fill_null(np.nan)).to_series()
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _mean(values: Floats, seed: int, draws: int) -> Measured:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Measured()
    interval = percentiles(bootstrap_means(defined[None, :, None], seed=seed, draws=draws)[:, 0])
    low, high = (None, None) if interval is None else interval
    return Measured(float(defined.mean()), low, high, len(defined))


def _ratio(gains: Floats, seed: int, draws: int) -> tuple[Measured, Measured]:
    """Mean gain of the best method, and the ratio of attention's mean gain (n, 2) to it: undefined unless the best
    method does clearly better than random order."""
    best = _mean(gains[:, 1], seed, draws)
    if best.value is None or best.low is None or best.low <= 0:
        return best, Measured(n=len(gains))
    means = bootstrap_means(gains[None], seed=seed, draws=draws)  # (draws, 2)
    ratios = np.divide(means[:, 0], means[:, 1], out=np.full(len(means), np.nan), where=means[:, 1] > 0)
    interval = percentiles(ratios)
    low, high = (None, None) if interval is None else interval
    own = float(gains[:, 0].mean())
    return best, Measured(own / best.value, low, high, len(gains))


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
    return Verdict(answer, words, level, criteria, limits, better, judge_texts(signals, found.best, bars, level))


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
