"""The race at the input: items are really erased from the text, in several orders, until the decision flips.

Removal at the attention (heedful.experiments.removal) leaves every state as it was; here the model reads what is left.
An erased item is deleted, or its words are replaced by `<unk>`. Comprehensiveness and sufficiency are those of DeYoung
et al. 2020.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from heedful.errors import unknown_name
from heedful.experiments.counts import check_count
from heedful.importance.attributions import ATTRIBUTIONS
from heedful.importance.erasable import WAYS, ErasableTexts
from heedful.importance.race import Erasable, Race
from heedful.models.classifier import Classifier
from heedful.models.inputs import Inputs
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys

RANKINGS = ("attention", *ATTRIBUTIONS, "random")


def erasure(
    model: Classifier,
    ids: Sequence[str],
    inputs: Inputs,
    weights: Ragged,
    *,
    ways: Sequence[str] = WAYS,
    rankings: Sequence[str] = RANKINGS,
    steps: int = 50,
    tolerance: float = 0.01,
    seed: int = 0,
) -> pl.DataFrame:
    """One row an instance. For each way of erasing and each ranking: `<way>_<ranking>_count`, the items erased when the
    decision first flips (null: it never does), `..._fraction` of the items and `..._mass` of the attention erased then,
    `..._comprehensiveness` and `..._sufficiency`, by how much the decided class's probability falls without the first
    items and with these alone (means over 1, 5, 10, 20 and 50 % of the items).

    A text is read at most `steps` times an order: those with more items are erased by several items at a time, `step`.
    `weights` are the attention (N,). Rankings other than `attention` and `random` are signed attributions to the
    decided class's probability.
    """
    check_count("steps", steps, least=1)
    for name in ways:
        if name not in WAYS:
            raise unknown_name("way of erasing", name, WAYS)
    for name in rankings:
        if name not in RANKINGS:
            raise unknown_name("ranking", name, RANKINGS)
    measures = [name for name in rankings if name in ATTRIBUTIONS]
    attributed = {name: ATTRIBUTIONS[name](model, inputs, tolerance) for name in measures}
    free = {"attention": lambda: weights, "random": lambda: random_values(ids, weights, seed)}
    ranked = {name: attributed[name] if name in attributed else free[name]() for name in rankings}
    return raced(ErasableTexts(model, inputs), ids, weights, ranked, ways=ways, steps=steps)


def raced(
    instances: Erasable,
    ids: Sequence[str],
    weights: Ragged,
    ranked: Mapping[str, Ragged],
    *,
    ways: Sequence[str],
    steps: int = 50,
) -> pl.DataFrame:
    """The same of any instances whose items can be erased, in the order of any values (N,), larger ones first."""
    race = Race(instances, steps)
    lengths = instances.items.lengths
    columns: dict[str, Any] = {
        "id": pl.Series(list(ids), dtype=pl.String),
        "decision": race.decided.astype(np.int32),
        "items": lengths,
        "step": race.step,
    }
    orders = {name: places_of(values) for name, values in ranked.items()}
    for way in ways:
        for name, places in orders.items():
            count = race.first_flips(places, way)
            flipped = pl.Series(count > 0)
            mass = weights.like(weights.values.astype(np.float64) * (places.values < count[places.row_of_value])).sum()
            figures = {"count": count, "fraction": count / np.maximum(lengths, 1), "mass": mass}
            for quantity, values in figures.items():
                columns[f"{way}_{name}_{quantity}"] = pl.select(pl.when(flipped).then(pl.Series(values))).to_series()
            without, alone = race.shares(places, way)
            columns[f"{way}_{name}_comprehensiveness"] = without
            columns[f"{way}_{name}_sufficiency"] = alone
    return pl.DataFrame(columns)


def random_values(ids: Sequence[str], weights: Ragged, seed: int) -> Ragged:
    """A seeded random order of the items, as values (N,)."""
    rows = weights.row_of_value
    positions = np.arange(len(rows)) - weights.offsets[rows]
    return weights.like(Stream(seed, "erasure").uniform(keys(ids)[rows], positions))


def places_of(values: Ragged) -> Ragged:
    """How many items of its row come before each item, (N,): larger values first, the first item on ties."""
    rows = values.row_of_value
    order = np.lexsort((-values.values.astype(np.float64), rows))  # stable
    places = np.empty(len(rows), dtype=np.int64)
    places[order] = np.arange(len(rows)) - values.offsets[rows]
    return values.like(places)
