"""The race at the input: items are erased from the text, in several orders, until the decision flips.

Zeroing attention (heedful.experiments.removal) leaves every state unchanged; here the model reads what is left.
An erased item is deleted, or its words are replaced by `<unk>`. Comprehensiveness and sufficiency are those of DeYoung
et al. 2020.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.errors import unknown_name
from heedful.evidence import chance, decide
from heedful.experiments.curves import SHARES, first_items
from heedful.experiments.experiment import check_count
from heedful.importance import ATTRIBUTIONS
from heedful.importance.classifier_texts import WAYS, ClassifierTexts
from heedful.importance.measure import Erasable, Outputs, chunks
from heedful.importance.table import attributions, signed_measures
from heedful.models.batches import Inputs
from heedful.models.classifier import Classifier
from heedful.ragged import Flags, Indices, Ragged
from heedful.randomness import Stream, keys

Floats = NDArray[np.float64]

RANKINGS = ("attention", *ATTRIBUTIONS, "random")
ROUND = 8  # forward passes per text between two looks at what has flipped
WORDS = 1 << 20  # words of erased texts at a time: bounds memory


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
    """One row per text. For each way of erasing and each ranking: `<way>_<ranking>_count`, the items erased when the
    decision first flips (null: it never does), `..._fraction` of the items and `..._mass` of the attention erased then,
    `..._comprehensiveness` and `..._sufficiency`, by how much the decided class's probability falls without the first
    items and with these alone (means over 1, 5, 10, 20 and 50 % of the items); at each of these shares,
    `..._comprehensiveness_at`.

    A text is read at most `steps` times per order: in longer ones, `step` items are erased at a time.
    `weights` are the attention (N,). Rankings other than `attention` and `random` are signed attributions to the
    decided class's probability.
    """
    check_count("steps", steps, least=1)
    for name in ways:
        if name not in WAYS:
            raise unknown_name("way of erasing", name, WAYS)
    for name in rankings:
        if name not in (valid := ("attention", *signed_measures(), "random")):
            raise unknown_name("ranking", name, valid)
    texts = ClassifierTexts(model, inputs)
    measures = [name for name in rankings if name not in ("attention", "random")]
    values = attributions(texts, names=measures, tolerance=tolerance)
    values |= {"attention": weights, "random": random_values(ids, weights, seed)}
    return raced(texts, ids, weights, {name: values[name] for name in rankings}, ways=ways, steps=steps)


def raced(
    instances: Erasable,
    ids: Sequence[str],
    weights: Ragged,
    ranked: Mapping[str, Ragged],
    *,
    ways: Sequence[str],
    steps: int = 50,
    until_flip: bool = True,
) -> pl.DataFrame:
    """The same of any texts whose items can be erased, in the order of any values (N,), larger ones first; without
    figures of the first flip unless orders go on `until_flip`."""
    race = Race(ReadOnce(instances), steps)
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
            if until_flip:
                count = race.first_flips(places, way)
                flipped, row = pl.Series(count > 0), places.row_of_value
                mass = weights.like(weights.values.astype(np.float64) * (places.values < count[row])).sum()
                figures = {"count": count, "fraction": count / np.maximum(lengths, 1), "mass": mass}
                for quantity, values in figures.items():
                    column = pl.select(pl.when(flipped).then(pl.Series(values))).to_series()
                    columns[f"{way}_{name}_{quantity}"] = column
            without, alone = race.falls(places, way, np.array(SHARES))
            columns[f"{way}_{name}_comprehensiveness"] = without.mean(axis=1)
            columns[f"{way}_{name}_comprehensiveness_at"] = pl.Series(without).cast(pl.List(pl.Float64))
            columns[f"{way}_{name}_sufficiency"] = alone.mean(axis=1)
    return pl.DataFrame(columns)


class ReadOnce:
    """The same texts; what is left of a text without the same items is read once, whatever order led there."""

    def __init__(self, instances: Erasable) -> None:
        self.instances, self.items, self.words = instances, instances.items, instances.words
        self.output = instances.output
        self._known: dict[bytes, int] = {}  # where the output of a text without some items stands
        self._outputs: list[Outputs] = []

    def erased(self, rows: Indices, gone: Flags, way: str) -> Outputs:
        """Outputs (M, K) of texts (M,) without the flagged items."""
        flags, _ = self.items.take(rows).like(gone).pad()  # (M, T)
        bits = np.packbits(flags, axis=1)
        wide = max(1, -(-int(self.items.lengths.max(initial=0)) // 8))
        bits = np.pad(bits, ((0, 0), (0, wide - bits.shape[1])))
        keys = [way.encode() + row.tobytes() + each.tobytes() for row, each in zip(rows, bits, strict=True)]
        new = {key: place for place, key in enumerate(keys) if key not in self._known}
        if new:
            some = np.array(sorted(new.values()))
            chosen = self.items.take(rows).like(gone).take(some)
            read = self.instances.erased(rows[some], chosen.values, way)
            for place, output in zip(some, read, strict=True):
                self._known[keys[place]] = len(self._outputs)
                self._outputs.append(output)
        return np.array([self._outputs[self._known[key]] for key in keys]).reshape(len(keys), -1)


class Race:
    """Texts and the outputs of what is left of them. `places` (N,) are the items' places in the order of erasing; `way`
    is one of the texts' ways."""

    def __init__(self, instances: Erasable, steps: int) -> None:
        self.instances = instances
        output = instances.output
        self.outputs = output.shape[1]
        self.decided = decide(output)
        self.whole = chance(output, self.decided)
        self.lengths = instances.items.lengths
        self.step = -(-self.lengths // steps)

    def first_flips(self, places: Ragged, way: str) -> Indices:
        """Items erased at the first flip, (n,); 0: it never flips."""
        lengths = self.lengths
        counts = np.zeros(len(lengths), dtype=np.int64)
        active, first = np.flatnonzero(lengths), 1
        while len(active):
            rows = np.repeat(active, ROUND)
            erased = np.minimum(np.tile(np.arange(first, first + ROUND), len(active)) * self.step[rows], lengths[rows])
            flips = decide(self._read(rows, erased, places, way)) != self.decided[rows]
            flips, erased = flips.reshape(-1, ROUND), erased.reshape(-1, ROUND)
            some = flips.any(axis=1)
            counts[active[some]] = erased[some, flips[some].argmax(axis=1)]
            over = erased[:, -1] == lengths[active]
            active, first = active[~some & ~over], first + ROUND
        return counts

    def falls(self, places: Ragged, way: str, shares: Floats) -> tuple[Floats, Floats]:
        """By how much the decided class's probability falls without the first items, and with these alone, (n, P) each:
        at each of the shares (P,) of all items."""
        rows = np.repeat(np.arange(len(self.decided)), len(shares))
        lengths = self.lengths[rows]
        first = np.minimum(first_items(self.lengths, shares).ravel(), lengths)
        falls = []
        for last in (False, True):
            output = self._read(rows, lengths - first if last else first, places, way, last=last)
            fall = self.whole[rows] - chance(output, self.decided[rows])
            falls.append(fall.reshape(-1, len(shares)))
        return falls[0], falls[1]

    def _read(self, rows: Indices, erased: Indices, places: Ragged, way: str, *, last: bool = False) -> Outputs:
        """Outputs (M, K) of texts (M,) with so many items erased (M,): the first ones, or the last ones. What short
        texts need more than once is read once."""
        several = int(self.lengths.max(initial=0)) + 1
        different, where = np.unique(rows * several + erased, return_inverse=True)
        rows, erased = different // several, different % several
        output = np.empty((len(rows), self.outputs))
        for some in chunks(self.instances.words[rows], WORDS):
            order = places.take(rows[some])
            row, count = order.row_of_value, erased[some]
            gone = order.values >= (order.lengths - count)[row] if last else order.values < count[row]
            output[some] = self.instances.erased(rows[some], gone, way)
        return output[where]


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
