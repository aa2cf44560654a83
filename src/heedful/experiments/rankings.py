"""Rankings: in which order items are removed (Serrano & Smith 2019, section 5), and sums over what is left of them.

Values are signed and the greatest comes first: an item that argues against the decision is not important for it,
however strongly it argues. Items of equal value keep their order in the text.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from heedful.errors import BadConfig, unknown_name
from heedful.evidence import probabilities
from heedful.experiments.view import View
from heedful.ragged import Flags, Floats, Indices, Keys, Ragged, length_batches
from heedful.randomness import Stream

# the rankings that order all items; `optimal` beside them is the smallest set of items that changes the decision
ORDERINGS = ("attention", "gradient", "gradient_attention", "contribution", "random", "ascending")
RANKINGS = (*ORDERINGS, "optimal")
CELLS = 1 << 18  # numbers summed up at a time: 2 MB, few enough for a processor's cache


def check_rankings(names: Sequence[str], valid: tuple[str, ...] = RANKINGS) -> tuple[str, ...]:
    """The named rankings in their usual order, each once."""
    if isinstance(names, str):
        raise BadConfig(f"rankings = {names!r}: give a list of names, such as ['{valid[0]}']")
    for name in names:
        if name not in valid:
            raise unknown_name("ranking", str(name), valid)
    if not names:
        raise BadConfig(f"no ranking is named; choose from {', '.join(valid)}")
    return tuple(name for name in valid if name in names)


class Ranker:
    """The orders in which one ranking removes items."""

    def __init__(self, view: View, name: str, instances: Keys, seed: int) -> None:
        self._lengths, self._instances = view.weights.lengths, instances
        self._random = Stream(seed, "ranking: random")
        self._values = None if name == "random" else item_values(view, name)

    def orders(self, rows: Indices, draw: int = 0) -> Indices:
        """Positions in the order of their removal, (B, T), padding last; only a random ranking has several draws."""
        if self._values is None:
            return self._random.orders(self._lengths[rows], self._instances[rows], draw)
        values, mask = self._values.take(rows).pad()
        return order_of(values, mask)


class Ranked:
    """The orders of values (N,) from elsewhere, such as importance."""

    def __init__(self, values: Ragged) -> None:
        self._values = values

    def orders(self, rows: Indices) -> Indices:
        """Positions in the order of their removal, (B, T), padding last."""
        return order_of(*self._values.take(rows).pad())


def item_values(view: View, name: str) -> Ragged:
    """What a ranking, if not random, ranks items by, (N,). `gradient` is divided by p (1 - p), p the probability of the
    decision: it is the same for all items, and would hide their differences where the output is saturated."""
    weights = view.weights
    match name:
        case "attention":
            return weights
        case "ascending":
            return weights.like(-weights.values)
        case "gradient":
            return view.effects(_against_rivals(view))
        case "gradient_attention":
            return weights.like(weights.values * view.effects(_against_rivals(view)).values)
        case "contribution":
            return contributions(view)
        case _:
            raise unknown_name("ranking", name, ORDERINGS)


def contributions(view: View) -> Ragged:
    """What each item adds to the margin of the decision over its strongest rival, (N,): to first order, and so that all
    items add up to the margin; exact where the decoder is affine. Zero where there is no rival."""
    weights, logits = view.weights, view.logits
    rivals = _rivals(view, logits)
    strongest = np.where(rivals, logits, -np.inf).argmax(axis=1)  # (n,)
    each = np.arange(len(weights))
    exists = rivals[each, strongest]
    directions = np.zeros_like(logits)
    directions[each, view.decided] += exists
    directions[each, strongest] -= exists
    margin = np.where(exists, logits[each, view.decided] - np.where(exists, logits[each, strongest], 0.0), 0.0)
    slopes = view.effects(directions)
    unexplained = margin - weights.like(weights.values * slopes.values).sum()  # by the items: it is the bias's
    return weights.like(weights.values * (slopes.values + unexplained[weights.row_of_value]))


def order_of(values: Floats, mask: Flags) -> Indices:
    """Positions by falling values (B, T), first come first on ties, padding last."""
    return np.where(mask, -values, np.inf).argsort(axis=1, kind="stable")


def _against_rivals(view: View) -> Floats:
    """The direction in which the decision's logit rises against the mean of its rivals', by their probabilities: that
    of the gradient of its own probability, (n, K)."""
    logits = view.logits
    rivals = _rivals(view, logits)
    directions = np.zeros_like(logits)
    some = rivals.any(axis=1)
    directions[some] = -probabilities(np.where(rivals, logits, -np.inf)[some])
    directions[np.flatnonzero(some), view.decided[some]] = 1.0
    return directions


def _rivals(view: View, logits: Floats) -> Flags:
    """The candidates that were not decided for, (n, K)."""
    return np.asarray((np.arange(view.classes) != view.decided[:, None]) & (logits > -np.inf))


class WeightedSums(NamedTuple):
    """The weighted sums of the items that are left of instances, and the weight left."""

    mixed: Floats  # (B, M, F)
    mass: Floats  # (B, M)


def batches(view: View) -> list[Indices]:
    """Instances of similar length, as many together as CELLS allows."""
    cells = max(1, CELLS // max(view.width, 2 * view.classes))
    return length_batches(view.weights.lengths, rows=cells, cells=cells)


def each_item(view: View, rows: Indices) -> WeightedSums:
    """Every item of instances (B,) by itself, weighted: M = T."""
    weights, _ = view.weights.take(rows).pad()
    return WeightedSums(weights[..., None] * view.item_vectors(rows), weights)


def in_order(items: WeightedSums, orders: Indices) -> WeightedSums:
    """The same items in the order (B, T) of their removal."""
    return WeightedSums(
        np.take_along_axis(items.mixed, orders[..., None], axis=1), np.take_along_axis(items.mass, orders, axis=1)
    )


def only_first(items: WeightedSums) -> WeightedSums:
    """The first 0, 1, ..., T items: M = T + 1."""
    return WeightedSums(_running(items.mixed), _running(items.mass))


def without_first(items: WeightedSums) -> WeightedSums:
    """All but the first 0, 1, ..., T items: M = T + 1."""
    return WeightedSums(*(_running(values[:, ::-1])[:, ::-1] for values in items))


def without_each(items: WeightedSums) -> WeightedSums:
    """All items but one, for each: M = T."""
    before, after = only_first(items), without_first(items)
    return WeightedSums(before.mixed[:, :-1] + after.mixed[:, 1:], before.mass[:, :-1] + after.mass[:, 1:])


def _running(values: Floats) -> Floats:
    """Sums of the first 0, 1, ..., T along the second axis."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1, *values.shape[2:]))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums
