"""The race at the input: items are really erased from the text, in several orders, until the decision flips."""

from collections.abc import Sequence

import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.rankings import Given, names_of, ranked, unknown
from heedful.audits.battery.readings import with_items
from heedful.audits.battery.subject_texts import WAYS, SubjectTexts, check_way, ways_of
from heedful.experiments.experiment import check_count
from heedful.importance.erasure import RANKINGS, raced, random_values

FIGURES = ("count", "fraction", "mass", "comprehensiveness", "comprehensiveness_at", "sufficiency")


@with_items
def erasure(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    ways: Sequence[str] | None = None,
    rankings: Sequence[str] | None = None,
    given: Given | None = None,
    steps: int = 50,
    tolerance: float = 0.01,
    seed: int = 0,
    full: bool = True,
) -> pl.DataFrame:
    """The columns of `heedful.importance.erasure`: `<way>_<ranking>_<figure>` for each way of erasing (`delete`, and
    `blank` where the subject has a token that stands for nothing), each ranking and all `given` ones, and each of
    FIGURES; `random` is its seeded order.

    Unless `full`, only what a verdict rests on: items are deleted, rankings are those given, attention and random, and
    no order goes on until the decision flips."""
    check_count("steps", steps, least=1)
    if ways is None:
        ways = ways_of(subject) if full else WAYS[:1]
    for way in ways:
        check_way(subject, way)
    if rankings is None:
        rankings = RANKINGS if full else ("attention", "random")
    names = names_of(rankings, given)
    values = ranked(subject, texts, seen, names, given=given, tolerance=tolerance)
    orders = {name: values[name] if name in values else random_values(ids, seen.weights, seed) for name in names}
    instances = SubjectTexts(subject, texts, seen)
    frame = raced(instances, ids, seen.weights, orders, ways=ways, steps=steps, until_flip=full)
    missing = {name: pl.Series(unknown(order)) for name, order in orders.items() if unknown(order).any()}
    return frame.with_columns(
        pl.when(~rows).then(pl.col(column)).alias(column)
        for name, rows in missing.items()
        for way in ways
        for column in frame.columns
        if column.removeprefix(f"{way}_{name}_") in FIGURES
    )
