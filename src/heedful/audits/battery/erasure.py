"""The race at the input: items are really erased from the text, in several orders, until the decision flips."""

from collections.abc import Sequence

import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.rankings import Given, cost, names_of, ranked, unknown
from heedful.audits.battery.readings import with_items
from heedful.audits.battery.subject_texts import WAYS, SubjectTexts, check_way, ways_of
from heedful.experiments.curves import SHARES
from heedful.experiments.experiment import check_count
from heedful.importance.erasure import RANKINGS, raced, random_values

FIGURES = ("count", "fraction", "mass", "comprehensiveness", "comprehensiveness_at", "sufficiency")


def readings(
    items: float,
    *,
    ways: Sequence[str] = WAYS,
    rankings: Sequence[str] = RANKINGS,
    steps: int = 50,
    tolerance: float = 0.01,
    given: int = 0,
) -> float:
    """Forward passes per text, at most: an order ends when the decision flips."""
    order = min(items, steps) + 2 * min(len(SHARES), items)
    return len(ways) * (len(rankings) + given) * order + cost(items, rankings)


@with_items
def erasure(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    ways: Sequence[str] | None = None,
    rankings: Sequence[str] = RANKINGS,
    given: Given | None = None,
    steps: int = 50,
    tolerance: float = 0.01,
    seed: int = 0,
) -> pl.DataFrame:
    """The columns of `heedful.importance.erasure`: `<way>_<ranking>_<figure>` for each way of erasing (`delete`, and
    `blank` where the subject has a token that stands for nothing), each ranking and all `given` ones, and each of
    FIGURES; `random` is its seeded order."""
    check_count("steps", steps, least=1)
    ways = ways_of(subject) if ways is None else ways
    for way in ways:
        check_way(subject, way)
    names = names_of(rankings, given)
    values = ranked(subject, texts, seen, names, given=given, tolerance=tolerance)
    orders = {name: values[name] if name in values else random_values(ids, seen.weights, seed) for name in names}
    frame = raced(SubjectTexts(subject, texts, seen), ids, seen.weights, orders, ways=ways, steps=steps)
    missing = {name: pl.Series(unknown(order)) for name, order in orders.items() if unknown(order).any()}
    return frame.with_columns(
        pl.when(~rows).then(pl.col(column)).alias(column)
        for name, rows in missing.items()
        for way in ways
        for column in frame.columns
        if column.removeprefix(f"{way}_{name}_") in FIGURES
    )
