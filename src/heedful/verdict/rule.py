"""The rule: from signals to a verdict. docs/audit-calibration.md explains it and measures how well it works.

`no` if a decisive criterion is clearly not met; `yes` if all tested criteria are clearly met; else `with caution`.
With too few instances, an untested decisive criterion, or no words deleted from the texts, it is never `yes`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

import numpy as np
import polars as pl

from heedful.measures import Floats, bootstrap_means, percentiles
from heedful.verdict.criteria import CALIBRATED, CRITERIA, CriterionSpec, LevelThresholds, Thresholds, quantities
from heedful.verdict.signals import FALL, ROUNDING, Level, methods_of
from heedful.verdict.verdict import OUTCOMES, Answer, Better, Criterion, Outcome, Verdict, show

FEW = 30  # instances: with fewer, a bootstrap interval is too narrow to trust
DRAWS = 2000  # of the bootstrap

NOT_DELETED = "no words were deleted from the texts to re-run the model (an evidence file alone does not allow it)"
TEXT_NOT_DELETED = "no word was deleted from its text"
_ANSWERS = {
    "yes": "Yes, this attention may be shown as an explanation",
    "with caution": "This attention may be shown, but only with caution",
    "no": "No, this attention should not be shown as an explanation",
}


def judge(signals: pl.DataFrame | pl.LazyFrame, *, thresholds: Thresholds = CALIBRATED, seed: int = 0) -> Verdict:
    """May this attention be shown? The answer for the model that gave these signals, and for each instance; the latter
    are derived when they are asked for, from a lazy frame in bounded memory."""
    levels = signals.lazy().select("level").head(1).collect()["level"].to_list()
    level: Level = "input" if levels == ["input"] else "attention"
    limit, found = thresholds.at(level), measure(signals.lazy().collect(), seed=seed)
    criteria = criteria_of(found, limit)
    reservations = _reservations(criteria, level)
    answer = answer_of(criteria, reservations)
    raced = found.figures["race"].n >= FEW
    better = next((rival for rival in found.rivals if rival.low > limit.better), None) if raced else None
    words = _words(answer, criteria, reservations, better)
    instances = judge_instances(signals.lazy(), found.best, limit, level)
    return Verdict(answer, words, level, criteria, reservations, better, instances)


class Estimate(NamedTuple):
    """A figure with its 95 % interval over the `n` instances where it is defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Measurements(NamedTuple):
    """All that a verdict needs to know about the signals."""

    figures: dict[str, Estimate]  # by criterion
    best: str | None  # the method whose first items matter most
    gains: Estimate  # by how much these matter more than random ones
    rivals: list[Better]  # every method's difference from attention, largest first


def measure(signals: pl.DataFrame, *, seed: int, draws: int = DRAWS) -> Measurements:
    """Means with bootstrap intervals over instances; the order of rows does not matter."""
    ordered = signals.sort("id")
    figures = _means({name: _values(ordered, value) for name, value in quantities().items()}, seed, draws)
    methods = methods_of(ordered)
    falls = {name: _values(ordered, pl.col(f"{name}{FALL}")) for name in ("attention", "random", *methods)}
    known = [name for name in methods if not np.isnan(falls[name]).all()]
    best = max(known, key=lambda name: float(np.nanmean(falls[name])), default=None)
    gains, figures["race"] = Estimate(), Estimate()
    if best is not None:
        table = np.stack([falls["attention"] - falls["random"], falls[best] - falls["random"]], axis=1)  # (n, 2)
        gains, figures["race"] = _ratio(table[~np.isnan(table).any(axis=1)], seed, draws)
    rivals = []
    for name, ahead in _means({name: falls[name] - falls["attention"] for name in known}, seed, draws).items():
        if ahead.value is not None and ahead.low is not None and ahead.high is not None:
            rivals.append(Better(name, ahead.value, ahead.low, ahead.high))
    return Measurements(figures, best, gains, sorted(rivals, key=lambda rival: -rival.by))


def criteria_of(found: Measurements, thresholds: LevelThresholds) -> tuple[Criterion, ...]:
    """What measurements say about each criterion."""
    return tuple(_criterion(spec, found.figures[spec.name], getattr(thresholds, spec.name)) for spec in CRITERIA)


def outcome_of(figure: Estimate, threshold: float, *, least: bool) -> Outcome:
    """Whether a figure is clearly on the right side of its threshold."""
    if figure.low is None or figure.high is None:
        return "open" if figure.n else "untested"
    if figure.n < FEW:
        return "open"
    low, high, bar = (figure.low, figure.high, threshold) if least else (-figure.high, -figure.low, -threshold)
    return "met" if low >= bar else "not met" if high < bar else "open"


def answer_of(criteria: Iterable[Criterion], limits: Sequence[str]) -> Answer:
    """The answer that follows from the criteria; never yes if there are `limits`."""
    criteria = list(criteria)
    if any(criterion.decisive and criterion.outcome == "not met" for criterion in criteria):
        return "no"
    tested = [criterion for criterion in criteria if criterion.outcome != "untested"]
    return "yes" if not limits and all(criterion.outcome == "met" for criterion in tested) else "with caution"


def judge_instances(signals: pl.LazyFrame, best: str | None, thresholds: LevelThresholds, level: Level) -> pl.LazyFrame:
    """`id`, `answer` and `reasons` why it is not yes. Attention is compared with the method `best`."""
    frame = signals.select("id", **_met(best, thresholds))
    fails = {spec.name: ~pl.col(spec.name) for spec in CRITERIA}
    no = reduce(or_, (fails[spec.name].fill_null(False) for spec in CRITERIA if spec.decisive))
    yes = reduce(and_, (pl.col(spec.name).fill_null(not spec.decisive) for spec in CRITERIA)) & (level == "input")
    reasons: list[pl.Expr] = [pl.when(fails[spec.name]).then(pl.lit(spec.failure)) for spec in CRITERIA]
    reasons += [pl.when(pl.col(spec.name).is_null()).then(pl.lit(f"not tested: {spec.question}")) for spec in CRITERIA]
    reasons.append(pl.lit(TEXT_NOT_DELETED if level == "attention" else None, dtype=pl.String))
    return frame.select(
        "id",
        pl.when(no).then(pl.lit("no")).when(yes).then(pl.lit("yes")).otherwise(pl.lit("with caution")).alias("answer"),
        pl.concat_list(reasons).list.drop_nulls().alias("reasons"),
    )


def _met(best: str | None, thresholds: LevelThresholds) -> dict[str, pl.Expr]:
    """Whether an instance meets each criterion; null where it was not tested."""
    values = quantities()
    race = pl.lit(None, dtype=pl.Boolean)
    if best is not None:
        own, other = (pl.col(f"{name}{FALL}") - pl.col(f"random{FALL}") for name in ("attention", best))
        race = own >= thresholds.race * other - ROUNDING
    return {
        "permutation": values["permutation"] >= thresholds.permutation,
        "lead": values["lead"] > 0.5,
        "against": values["against"] == 0,
        "race": race,
        "replacement": values["replacement"] >= thresholds.replacement,
    }


def _values(signals: pl.DataFrame, value: pl.Expr) -> Floats:
    column = signals.select(value.cast(pl.Float64).fill_null(np.nan)).to_series()
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _means(columns: Mapping[str, Floats], seed: int, draws: int) -> dict[str, Estimate]:
    """The mean of each column (n,). Columns with as many defined values have the same draws, which are made once."""
    defined = {name: values[~np.isnan(values)] for name, values in columns.items()}
    found = dict.fromkeys(columns, Estimate())
    for n in {len(values) for values in defined.values()} - {0}:
        names = [name for name, values in defined.items() if len(values) == n]
        table = np.stack([defined[name] for name in names], axis=1)  # (n, Q)
        means = bootstrap_means(table[None], seed=seed, draws=draws)
        found |= {name: _estimate(defined[name], means[:, place]) for place, name in enumerate(names)}
    return found


def _estimate(values: Floats, means: Floats) -> Estimate:
    low, high = percentiles(means) or (None, None)
    return Estimate(float(values.mean()), low, high, len(values))


def _ratio(gains: Floats, seed: int, draws: int) -> tuple[Estimate, Estimate]:
    """Mean gain of the best method, and the ratio of attention's mean gain (n, 2) to it: undefined unless the best
    method does clearly better than random order."""
    if not len(gains):
        return Estimate(), Estimate()
    means = bootstrap_means(gains[None], seed=seed, draws=draws)  # (draws, 2)
    best = _estimate(gains[:, 1], means[:, 1])
    if best.value is None or best.low is None or best.low <= 0:
        return best, Estimate(n=len(gains))
    ratios = np.divide(means[:, 0], means[:, 1], out=np.full(len(means), np.nan), where=means[:, 1] > 0)
    interval = percentiles(ratios)
    low, high = interval or (None, None)
    return best, Estimate(float(gains[:, 0].mean()) / best.value, low, high, len(gains))


def _criterion(spec: CriterionSpec, figure: Estimate, threshold: float) -> Criterion:
    outcome = outcome_of(figure, threshold, least=spec.least)
    words = "Not tested."
    if outcome != "untested" and (figure.value is None or figure.low is None or figure.high is None):
        words = "No ranking does clearly better than random order, so there is nothing to compare attention with."
    elif figure.value is not None and figure.low is not None and figure.high is not None:
        finding = spec.finding.format(value=show(spec.name, figure.value))
        interval = f"{show(spec.name, figure.low)} to {show(spec.name, figure.high)}"
        side = "at least" if spec.least else "at most"
        words = f"{finding}, 95 % interval {interval}; threshold: {side} {show(spec.name, threshold)}."
        if figure.n < FEW:
            words += f" {figure.n} {'instance is' if figure.n == 1 else 'instances are'} too few to tell."
    return Criterion(spec.name, spec.question, spec.decisive, *figure, threshold, spec.least, outcome, words)


def _reservations(criteria: Iterable[Criterion], level: Level) -> tuple[str, ...]:
    """What rules out a yes."""
    decisive = [criterion for criterion in criteria if criterion.decisive]
    found = [f"not tested: {criterion.question}" for criterion in decisive if criterion.outcome == "untested"]
    few = [criterion.n for criterion in decisive if 0 < criterion.n < FEW]
    if few:
        found.append(f"tested on only {min(few)} {'text' if min(few) == 1 else 'texts'}; a yes needs at least {FEW}")
    if level == "attention":
        found.append(NOT_DELETED)
    return tuple(found)


def _words(answer: Answer, criteria: Sequence[Criterion], limits: Sequence[str], better: Better | None) -> str:
    counts = {outcome: sum(criterion.outcome == outcome for criterion in criteria) for outcome in OUTCOMES}
    if counts["untested"] == len(criteria):
        return "Nothing was tested that could tell whether this attention may be shown as an explanation."
    first, *rest = [(number, OUTCOMES[outcome]) for outcome, number in counts.items() if number]
    parts = [f"{first[0]} of {len(criteria)} criteria {first[1]}", *(f"{number} {outcome}" for number, outcome in rest)]
    words = f"{_ANSWERS[answer]}: {', '.join(parts)}."
    if answer == "with caution" and limits and not counts["not met"] and not counts["open"]:
        words += f' Not a "yes": {"; ".join(limits)}.'
    if better is not None:
        words += f" {better.method} finds the deciding words better (comprehensiveness higher by {better.by:.2f})."
    return words
