"""What Jain & Wallace 2019 found, each as a test of one configuration; docs/compare.md has the rules in words.

The paper says "modest", "often", "high"; docs/compare.md says where the numbers that stand for these words come from.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from heedful.experiments.summary import Difference, difference, pooled
from heedful.findings.configurations import Configuration

MODEST = 0.5  # a mean tau: all of BiLSTMs in the paper's Table 2 are below, all but one of Average above
ATTENDED = 0.5  # a weight that looks like an explanation: the upper bins of the paper's Figure 3
LITTLE = 0.1  # a TVD that hardly counts
HIGH = math.log(2) / 2  # a JSD: half of what is possible
MOST = 0.5  # a share of instances
FEW = 30  # instances that tell nothing

DRAWS = 1000
SEED = 0


class Finding(NamedTuple):
    """What one configuration (or two that are compared) says of a claim."""

    where: str
    value: float
    low: float | None
    high: float | None
    holds: bool | None  # None: the interval does not tell
    n: int
    runs: tuple[str, ...]  # folder names
    against: float | None = None  # the share that speaks against it, where the value is the one that speaks for it


def weak_agreement(measure: str) -> Callable[[Sequence[Configuration]], Iterator[Finding]]:
    """The mean tau of attention and a measure in BiLSTMs lies below 0.5."""

    def test(all_: Sequence[Configuration]) -> Iterator[Finding]:
        for each in _encoded(all_, "bilstm"):
            column = f"tau_attention_{measure}"
            yield from _mean(each, "correlation", pl.col(column), (column,), below=MODEST)

    return test


def average_agrees_more(all_: Sequence[Configuration]) -> Iterator[Finding]:
    """Tau of attention and gradient: Average minus BiLSTM, on the same corpus, attention and preset."""
    for lstm in _encoded(all_, "bilstm"):
        for average in _encoded(all_, "average"):
            found = agrees_more(average, lstm) if _alike(lstm) == _alike(average) else None
            if found is not None:
                yield found


def agrees_more(first: Configuration, second: Configuration) -> Finding | None:
    """By how much attention agrees better with the gradient in one configuration than in another, whether or not their
    models have learned anything; None if correlation was not performed, or tells too little."""
    column = "tau_attention_gradient"
    one, other = (each.values("correlation", pl.col(column), column) for each in (first, second))
    if one is None or other is None:
        return None
    found = difference(one.table, other.table, paired=one.ids.equals(other.ids), seed=SEED, draws=DRAWS)
    n = min(int((~np.isnan(each.table)).sum()) for each in (one, other))
    return next(_above(f"{first.label} against {second.model}", found, n, _names(first, second)), None)


def importance_agrees_more(all_: Sequence[Configuration]) -> Iterator[Finding]:
    """Tau of gradient and leave-one-out minus that of attention and either: the smaller of the two differences."""
    both = "tau_gradient_leave_one_out"
    for each in _encoded(all_, "bilstm"):
        found = []
        for measure in ("gradient", "leave_one_out"):
            column = f"tau_attention_{measure}"
            values = each.values("correlation", pl.col(both) - pl.col(column), both, column)
            if values is not None:
                found.append(pooled(values.table, seed=SEED, draws=DRAWS))
        known = [tau for tau in found if tau.mean is not None and tau.low is not None]
        if len(known) == 2:
            least = min(known, key=lambda tau: tau.mean or 0.0)
            smaller = Difference(least.mean or 0.0, least.low or 0.0, least.high or 0.0)
            yield from _above(each.label, smaller, least.n, _names(each))


def shuffling_does_little(all_: Sequence[Configuration]) -> Iterator[Finding]:
    """Where an item has half of the attention or more, shuffling mostly moves the output by 0.1 at most (median)."""
    figure = pl.when(pl.col("max_attention") >= ATTENDED).then(pl.col("median") <= LITTLE)
    for each in _encoded(all_, "bilstm"):
        yield from _mean(each, "permutation", figure, ("max_attention", "median"), above=MOST)


def adversaries_exist(all_: Sequence[Configuration]) -> Iterator[Finding]:
    """In most instances other attention is at least 0.35 away (JSD) with nearly the same output."""
    for each in _encoded(all_, "bilstm"):
        yield from _mean(each, "adversary", pl.col("jsd") >= HIGH, ("jsd",), above=MOST)


def diabetes_is_moved(all_: Sequence[Configuration]) -> Iterator[Finding]:
    """Diabetes: shuffling moves the output of what is decided positive further than of the rest."""
    for each in _encoded(all_, "bilstm"):
        if each.config.corpus != "mimic-diabetes":
            continue
        sides = [
            each.values("permutation", pl.when(pl.col("decision") == side).then(pl.col("median")), "median")
            for side in (1, 0)
        ]
        if sides[0] is not None and sides[1] is not None:
            found = difference(sides[0].table, sides[1].table, paired=True, seed=SEED, draws=DRAWS)
            yield from _above(each.label, found, sides[0].table.size, _names(each))


def _encoded(all_: Sequence[Configuration], encoder: str) -> Iterator[Configuration]:
    """The paper's kind of model, as far as it has learned something."""
    for each in all_:
        same = (each.config.model, each.config.encoder) == ("classifier", encoder)
        if same and (learned := each.learned) is not None:
            yield learned


def _alike(each: Configuration) -> tuple[object, ...]:
    """What two models that are compared have in common: data, attention and settings, but not the encoder's."""
    own = {"seed", "encoder", "encoder_options", "threads", "experiment_options", "importance"}
    return tuple(sorted((name, repr(value)) for name, value in each.config.model_dump(exclude=own).items()))


def _names(*all_: Configuration) -> tuple[str, ...]:
    return tuple(run.folder.name for each in all_ for run in each.runs)


def _mean(
    each: Configuration,
    experiment: str,
    figure: pl.Expr,
    columns: tuple[str, ...],
    *,
    above: float | None = None,
    below: float | None = None,
) -> Iterator[Finding]:
    """Whether a mean lies on one side of a bound, with all of its interval."""
    values = each.values(experiment, figure, *columns)
    if values is None:
        return
    mean, low, high, n, _ = pooled(values.table, seed=SEED, draws=DRAWS)
    if mean is None or low is None or high is None or n < FEW:
        return
    holds = None
    if above is not None and not low <= above <= high:
        holds = low > above
    if below is not None and not low <= below <= high:
        holds = high < below
    yield Finding(each.label, mean, low, high, holds, n, _names(each))


def _above(where: str, found: Difference | None, n: int, runs: tuple[str, ...]) -> Iterator[Finding]:
    """Whether a difference is above zero, with all of its interval."""
    if found is not None and n >= FEW:
        holds = None if found.low <= 0 <= found.high else found.low > 0
        yield Finding(where, *found, holds, n, runs)
