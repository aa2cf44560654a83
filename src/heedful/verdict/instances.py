"""The answers for single texts, by the criteria and thresholds of the model's answer."""

from functools import reduce
from operator import and_, or_

import polars as pl

from heedful.verdict.criteria import CRITERIA, CriterionSpec, Thresholds
from heedful.verdict.signals import GAIN, Level

NOTHING_TO_WIN = "no words of this text matter clearly more than random ones"
WEIGHTS_UNKNOWN = "deleting the highlighted words changes too little to tell whether their weights matter"
NOT_SWAPPED = "the highlighted words could not be swapped for those of a text decided otherwise"
NOT_DELETED = "no word was deleted from this text"
PARTLY = "the decision rests on the highlighted words only in part"
WEIGHTS_PARTLY = "the model decides through their weights only in part"


def text_answers(signals: pl.LazyFrame, thresholds: Thresholds, level: Level) -> pl.LazyFrame:
    """`id`, `decision`, `answer` and `reasons` of every text that was tested.

    A single text says less than a mean over texts, so one poor share is not enough for a no: it takes highlighted words
    that do not carry the decision into another text, or that are neither needed nor sufficient.
    """
    return _at_input(signals, thresholds) if level == "input" else _at_attention(signals, thresholds)


def _at_input(signals: pl.LazyFrame, thresholds: Thresholds) -> pl.LazyFrame:
    specs = {spec.name: spec for spec in CRITERIA if "input" in spec.levels}
    fails = {name: pl.col(name) < thresholds.criteria[name].failed for name in specs}
    meets = {name: pl.col(name) >= thresholds.criteria[name].met for name in specs}
    decidable = pl.col("necessity").is_not_null() | pl.col("sufficiency").is_not_null()
    useless = fails["necessity"].fill_null(True) & fails["sufficiency"].fill_null(True)
    no = decidable & (fails["swap"].fill_null(False) | useless | fails["truth"].fill_null(False))
    words = reduce(and_, (meets[name].fill_null(True) for name in ("necessity", "sufficiency", "swap", "truth")))
    yes = decidable & words & meets["weights"] & pl.col("swap").is_not_null()
    unknown = ~decidable | (words & pl.col("weights").is_null())
    cautious = ~no & ~yes.fill_null(False) & ~unknown
    partly = [
        (~words, PARTLY),
        (meets["weights"].not_().fill_null(False) & ~fails["weights"].fill_null(False), WEIGHTS_PARTLY),
        (pl.col("swap").is_null(), NOT_SWAPPED),
    ]
    reasons: list[pl.Expr] = [
        *(pl.when(decidable & fails[name]).then(pl.lit(spec.failure)) for name, spec in specs.items()),
        *(pl.when(cautious & holds).then(pl.lit(reason)) for holds, reason in partly),
        pl.when(~decidable).then(pl.lit(NOTHING_TO_WIN)),
        pl.when(decidable & words & pl.col("weights").is_null()).then(pl.lit(WEIGHTS_UNKNOWN)),
    ]
    tested = signals.filter(pl.col(f"attention{GAIN}").is_not_null())
    return _answered(tested, [(no, "no"), (yes.fill_null(False), "yes"), (unknown, "not determined")], reasons)


def _at_attention(signals: pl.LazyFrame, thresholds: Thresholds) -> pl.LazyFrame:
    specs: list[CriterionSpec] = [spec for spec in CRITERIA if "attention" in spec.levels]
    fails = [pl.col(spec.name) < thresholds.criteria[spec.name].failed for spec in specs]
    no = reduce(or_, (each.fill_null(False) for each in fails))
    reasons: list[pl.Expr] = [
        pl.when(failed).then(pl.lit(spec.failure)) for spec, failed in zip(specs, fails, strict=True)
    ]
    tested = signals.filter(pl.any_horizontal(pl.col(spec.name).is_not_null() for spec in specs))
    return _answered(
        tested, [(no, "no"), (pl.lit(True), "not determined")], [*reasons, pl.when(~no).then(pl.lit(NOT_DELETED))]
    )


def _answered(tested: pl.LazyFrame, answers: list[tuple[pl.Expr, str]], reasons: list[pl.Expr]) -> pl.LazyFrame:
    answer = pl.lit("with caution")
    for holds, name in reversed(answers):
        answer = pl.when(holds).then(pl.lit(name)).otherwise(answer)
    listed = pl.concat_list(reason.cast(pl.String) for reason in reasons).list.drop_nulls()
    return tested.select("id", "decision", answer=answer, reasons=listed)
