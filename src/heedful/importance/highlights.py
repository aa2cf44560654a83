"""Are the highlighted words the ones the decision rests on, and does the model decide through their weights?

The highlighted items of a text are the fewest that hold half, and four fifths, of its attention (at most half of the
items). For each of the two sets:

- **necessity**: by how much the decided class's probability falls without them (DeYoung et al. 2020);
- **sufficiency**: by how much it falls with nothing but them;
- **swap**: by how much it falls when they are replaced by the highlighted items of texts that are decided otherwise
  (the larger set only). A word that occurs in every text is replaced by itself, however much depends on it;
- **weights**: by how much it falls when the text stays as it is and they lose their attention.

Falls are compared with those of random sets of the same size and with the best sets that a beam search finds, in the
spirit of normalised AOPC (Edin et al. 2024): what counts is the share of the possible gain over random.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.evidence import chance, decide
from heedful.importance.beam import best_sets
from heedful.importance.measure import Erasable, Outputs, chunks
from heedful.ragged import Flags, Floats, Indices, Ragged
from heedful.randomness import Stream, keys

MASSES = (0.5, 0.8)  # of the attention that the highlighted items hold
RANDOM = 4  # random sets of each size
DONORS = 3  # texts that are decided otherwise, for each text
POOL = 64  # donors of each decided class
WORDS = 1 << 20  # of changed texts at a time: bounds memory


class Swappable(Erasable, Protocol):
    """Texts whose items can be erased, swapped, and robbed of their attention."""

    def swapped(self, rows: Indices, places: Ragged, donors: "Donors", given: Indices, taken: Ragged) -> Outputs:
        """Outputs (M, K) of texts (M,) whose items at `places` are replaced, one by one, by the items at the places
        `taken` of donors (M,)."""

    def unattended(self, rows: Indices, gone: Flags) -> Outputs:
        """Outputs (M, K) of texts (M,) with the flagged items' attention zeroed, where it can be."""


class Donors(NamedTuple):
    """Texts to take items from."""

    texts: Any  # as the instances have them
    weights: Ragged  # (N,)
    output: Outputs  # (n, K)
    keys: NDArray[np.uint64]  # (n,): what the choice of a donor depends on
    truth: Ragged | None = None  # (N,): items known to decide


def highlights(
    instances: Swappable,
    ids: Sequence[str],
    weights: Ragged,
    donors: Donors,
    *,
    rankings: Mapping[str, Ragged] | None = None,
    ways: Sequence[str] = ("delete",),
    truth: Ragged | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """One row per text: `<way>_necessity_<ranking>` and `<way>_sufficiency_<ranking>`, mean falls over the two sets,
    for `attention`, `random`, `best` and all `rankings`; `swap_attention`, `swap_random` and `swap_whole` (the donor's
    text as a whole); `weights_attention` and `weights_random`. Null for texts of one item; swaps are null where no text
    is decided otherwise. Where the `truth` (N,), the items known to decide, is given, also `truth_mass`, the attention
    on them, and `truth_decides`, whether swapping them for those of other texts changes the decision.
    """
    found = _Falls(instances, ids, weights, seed)
    columns: dict[str, Any] = {
        "id": pl.Series(list(ids), dtype=pl.String),
        "decision": found.decided.astype(np.int32),
        "items": weights.lengths,
        "probability": found.whole,
        "highlighted": pl.Series(found.sizes.astype(np.int32)).cast(pl.List(pl.Int32)),
    }
    ranked = {"attention": weights, **(rankings or {})}
    sets = {name: found.first(values) for name, values in ranked.items()}  # (n, L, T)
    for keep, quantity in ((False, "necessity"), (True, "sufficiency")):
        best = None
        for way in ways:
            values = {name: found.falls(chosen, way, keep=keep) for name, chosen in sets.items()}  # (n, L)
            values["random"] = np.mean([found.falls(each, way, keep=keep) for each in found.random], axis=0)
            if best is None:
                best = found.search(way, [*sets.values(), *found.random], keep=keep)
            top = found.falls(best, way, keep=keep)
            every = [top, *(values[name] for name in values if name != "random")]
            values["best"] = np.min(every, axis=0) if keep else np.max(every, axis=0)
            columns |= {f"{way}_{quantity}_{name}": fall.mean(axis=1) for name, fall in values.items()}
    columns |= found.swaps(sets["attention"][:, -1], donors)
    for name, chosen in (("attention", [sets["attention"]]), ("random", found.random)):
        columns[f"weights_{name}"] = np.mean([found.unattended(each) for each in chosen], axis=0).mean(axis=1)
    if truth is not None and donors.truth is not None:
        columns |= found.truth(truth, donors, donors.truth)
    several = pl.col("items") > 1
    frame = pl.DataFrame(columns)
    measured = [name for name in frame.columns if name not in ("id", "decision", "items", "probability", "highlighted")]
    return frame.with_columns(pl.when(several).then(_defined(frame, name)).alias(name) for name in measured)


def donor_rows(ids: Sequence[str], decided: Indices, seed: int) -> Indices:
    """The rows of at most POOL texts of each decided class, rising: which ones depends on their ids, not on where they
    stand."""
    drawn = np.lexsort((Stream(seed, "donors").bits(keys(ids)), decided))
    _, firsts, counts = np.unique(decided[drawn], return_index=True, return_counts=True)
    places = np.arange(len(drawn)) - np.repeat(firsts, counts)
    return np.sort(drawn[places < POOL])


class _Falls:
    """Falls of the decided class's probability; sets of items are flags (n, L, T) or (n, T)."""

    def __init__(self, instances: Swappable, ids: Sequence[str], weights: Ragged, seed: int) -> None:
        self.instances, self.weights, self.names = instances, weights, keys(ids)
        self.output = instances.output
        self.decided = decide(self.output)
        self.whole = chance(self.output, self.decided)
        self.lengths = weights.lengths
        self.width = int(self.lengths.max(initial=1))
        self.mask = np.arange(self.width) < self.lengths[:, None]
        self.sizes = _sizes(weights)  # (n, L)
        self.stream = Stream(seed, "highlights")
        self.random = [self._random(draw) for draw in range(RANDOM)]
        self._known: dict[bytes, float] = {}

    def first(self, values: Ragged) -> Flags:
        """The items with the largest values, as many as are highlighted, (n, L, T)."""
        padded = np.full(self.mask.shape, -np.inf)
        padded[self.mask] = values.values
        return self._ranked(padded)

    def _random(self, draw: int) -> Flags:
        drawn = self.stream.uniform(self.names[:, None], np.arange(self.width), draw)
        return self._ranked(np.where(self.mask, drawn, -np.inf))

    def _ranked(self, values: Floats) -> Flags:
        places = np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1)  # (n, T)
        return np.asarray((places[:, None] < self.sizes[..., None]) & self.mask[:, None])

    def falls(self, sets: Flags, way: str, *, keep: bool) -> Floats:
        """Falls (n, L) without the flagged items, or with nothing but them."""
        rows = np.repeat(np.arange(len(sets)), sets.shape[1])
        return self.fall(rows, sets.reshape(len(rows), self.width), way, keep=keep).reshape(sets.shape[:2])

    def fall(self, rows: Indices, sets: Flags, way: str, *, keep: bool) -> Floats:
        """Falls (M,) of texts (M,) without the flagged items (M, T), or with nothing but them; each is read once."""
        gone = self.mask[rows] & ~sets if keep else sets
        names = [
            way.encode() + row.tobytes() + bits.tobytes()
            for row, bits in zip(rows, np.packbits(gone, axis=1), strict=True)
        ]
        new = {name: place for place, name in enumerate(names) if name not in self._known}
        if new:
            some = np.array(sorted(new.values()))
            for part in (some[each] for each in chunks(self.instances.words[rows[some]], WORDS)):
                read = self.instances.erased(rows[part], gone[part][self.mask[rows[part]]], way)
                left = self.whole[rows[part]] - chance(read, self.decided[rows[part]])
                self._known |= {names[place]: value for place, value in zip(part, left.tolist(), strict=True)}
        return np.array([self._known[name] for name in names])

    def search(self, way: str, others: Sequence[Flags], *, keep: bool) -> Flags:
        """The best sets found, (n, L, T)."""

        def score(rows: Indices, sets: Flags) -> Floats:
            fall = self.fall(rows, sets, way, keep=keep)
            return -fall if keep else fall

        return best_sets(score, self.lengths, self.sizes, others)

    def swaps(self, sets: Flags, donors: Donors) -> dict[str, Floats]:
        """Mean falls (n,) when highlighted items, as many others, or whole texts are swapped; NaN without a donor."""
        chosen = self._donors(donors)  # (n, D), -1: none
        rows, which = np.nonzero(chosen >= 0)
        given = chosen[rows, which]
        falls = {name: np.full(chosen.shape, np.nan) for name in ("attention", "random", "whole")}
        if len(rows):
            theirs = _sizes(donors.weights)[:, -1]
            for name in ("attention", "random"):
                places, taken = [], []
                for row, donor in zip(rows, given, strict=True):
                    own, other = np.flatnonzero(sets[row]), _order(donors.weights[donor])
                    head, rest = other[: theirs[donor]], other[theirs[donor] :]
                    if name == "random":
                        free = np.flatnonzero(self.mask[row] & ~sets[row])
                        drawn = self.stream.uniform(self.names[row], free, RANDOM)
                        own = np.sort(free[np.argsort(drawn, kind="stable")][: len(own)])
                        drawn = self.stream.uniform(donors.keys[donor], rest, RANDOM)
                        head = rest[np.argsort(drawn, kind="stable")]
                    own = own if len(head) else own[:0]
                    places.append(own)
                    taken.append(np.resize(head, len(own)) if len(own) else own)
                output = self._swapped(rows, places, donors, given, taken)
                falls[name][rows, which] = self.whole[rows] - chance(output, self.decided[rows])
            falls["whole"][rows, which] = self.whole[rows] - chance(donors.output[given], self.decided[rows])
        count = np.maximum((chosen >= 0).sum(axis=1), 1)
        return {
            f"swap_{name}": np.where((chosen >= 0).any(axis=1), np.nansum(fall, axis=1) / count, np.nan)
            for name, fall in falls.items()
        }

    def truth(self, flags: Ragged, donors: Donors, theirs: Ragged) -> dict[str, Any]:
        """Attention (n,) on the flagged items, and whether swapping them changes the decision; null without any."""
        chosen = self._donors(donors)
        pairs = [
            (row, donor)
            for row, donor in zip(*np.nonzero(chosen >= 0), strict=True)
            if flags[row].any() and theirs[chosen[row, donor]].any()
        ]
        changed = np.zeros(len(chosen))
        if pairs:
            rows, which = (np.array(each) for each in zip(*pairs, strict=True))
            given = chosen[rows, which]
            places = [np.flatnonzero(flags[row]) for row in rows]
            taken = [
                np.resize(np.flatnonzero(theirs[donor]), len(own)) for donor, own in zip(given, places, strict=True)
            ]
            other = decide(self._swapped(rows, places, donors, given, taken)) != self.decided[rows]
            count = np.bincount(rows, minlength=len(chosen))
            changed = np.bincount(rows, other, minlength=len(chosen)) / np.maximum(count, 1)
        total = self.weights.sum().astype(np.float64)
        mass = self.weights.like(self.weights.values * flags.values).sum() / np.where(total > 0, total, 1.0)
        known = flags.sum() > 0
        return {"truth_mass": np.where(known, mass, np.nan), "truth_decides": known & (changed >= 0.5)}

    def _swapped(
        self, rows: Indices, places: list[Indices], donors: Donors, given: Indices, taken: list[Indices]
    ) -> Outputs:
        cells = (Ragged.from_rows(each, dtype=np.int64) for each in (places, taken))
        own, other = cells
        return self.instances.swapped(rows, own, donors, given, other)

    def _donors(self, donors: Donors) -> Indices:
        """Texts that are decided otherwise, (n, D): which ones depends on the seed and on the two ids."""
        theirs = decide(donors.output)
        able = donors.weights.lengths > 0
        chosen = np.full((len(self.decided), DONORS), -1)
        for row, decision in enumerate(self.decided):
            others = np.flatnonzero((theirs != decision) & able)
            drawn = self.stream.bits(self.names[row], donors.keys[others])
            some = others[np.argsort(drawn, kind="stable")][:DONORS]
            chosen[row, : len(some)] = some
        return chosen

    def unattended(self, sets: Flags) -> Floats:
        """Falls (n, L) with the flagged items' attention zeroed."""
        rows = np.repeat(np.arange(len(sets)), sets.shape[1])
        flat = sets.reshape(len(rows), self.width)
        output = self.instances.unattended(rows, flat[self.mask[rows]])
        return (self.whole[rows] - chance(output, self.decided[rows])).reshape(sets.shape[:2])


def _defined(frame: pl.DataFrame, name: str) -> pl.Expr:
    return pl.col(name).fill_nan(None) if frame.schema[name].is_float() else pl.col(name)


def _sizes(weights: Ragged) -> Indices:
    """How many items are highlighted, (n, L): the fewest that hold a share of the attention, at most half of all."""
    sizes = np.zeros((len(weights), len(MASSES)), dtype=np.int64)
    for row, values in enumerate(weights):
        held = np.cumsum(np.sort(values.astype(np.float64))[::-1])
        most = -(-len(values) // 2)
        if len(values):
            sizes[row] = np.minimum(1 + np.searchsorted(held, np.array(MASSES) * held[-1] * (1 - 1e-9)), most)
    return sizes


def _order(values: NDArray[Any]) -> Indices:
    return np.argsort(-values.astype(np.float64), kind="stable")
