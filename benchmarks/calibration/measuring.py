"""Planted subjects through the tests of an audit, to signals at both levels."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import NamedTuple

import polars as pl

from benchmarks.calibration.planted import Plan, Planted
from heedful import experiments
from heedful.audits.battery import BATTERY
from heedful.verdict.rule import Measurements, measure
from heedful.verdict.signals import Level, signals

THROUGH_MODEL = {"permutation": {}, "substitution": {}, "violation": {}, "erasure": {"ways": ("delete",)}}
OF_EVIDENCE = ("permutation", "substitution", "curves")
LEVELS: tuple[Level, ...] = ("input", "attention")


class Case(NamedTuple):
    """A planted subject as the rule sees it."""

    plan: Plan
    signals: dict[Level, pl.DataFrame]
    found: dict[Level, Measurements]


def case_of(plan: Plan) -> Case:
    """The battery on the subject as a model, and the experiments on its evidence."""
    subject = Planted(plan)
    texts, seen, ids = subject.texts, subject.read(subject.texts), subject.ids
    read = {
        name: BATTERY[name].perform(subject, ids, texts, seen, seed=plan.seed, **options)
        for name, options in THROUGH_MODEL.items()
    }
    evidence = subject.evidence()
    told = {name: experiments.EXPERIMENTS[name](evidence, seed=plan.seed) for name in OF_EVIDENCE}
    return summed_up(plan, {"input": signals(read), "attention": signals(told)})


def summed_up(plan: Plan, found: dict[Level, pl.DataFrame]) -> Case:
    """Signals with what the rule measures of them."""
    return Case(plan, found, {level: measure(frame, seed=plan.seed) for level, frame in found.items()})


def kept(cases: Iterable[Case]) -> pl.DataFrame:
    """All signals in one frame."""
    return pl.concat(
        [
            case.signals[level].select(pl.lit(index).alias("case"), *_plan(case.plan), pl.all())
            for index, case in enumerate(cases)
            for level in LEVELS
        ],
        how="diagonal",
    )


def cases_in(frame: pl.DataFrame) -> Iterator[Case]:
    """The cases of signals that were kept."""
    for (_,), rows in frame.group_by("case", maintain_order=True):
        told = {name: rows[f"plan_{name}"][0] for name in asdict(Plan())}
        signals = rows.drop("case", *(f"plan_{name}" for name in told))
        by_level: dict[Level, pl.DataFrame] = {}
        for level in LEVELS:
            some = signals.filter(pl.col("level") == level)
            by_level[level] = some.select(name for name in some.columns if some[name].null_count() < len(some))
        yield summed_up(Plan(**told), by_level)


def _plan(plan: Plan) -> list[pl.Expr]:
    return [pl.lit(value).alias(f"plan_{name}") for name, value in asdict(plan).items()]
