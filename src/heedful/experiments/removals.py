"""Taking items away: their weights become zero, and the others are made to sum to one again.

What a decoder mixes is a weighted sum, so all that is left after any removal is a sum over the items that stay. Those
of all steps, or of all single items, are running sums. Nothing is ever subtracted from a total: where one item has
nearly all the weight, no digit of the others would be left.
"""

from typing import NamedTuple

import numpy as np

from heedful.experiments.arrays import Floats, Indices
from heedful.experiments.view import View
from heedful.ragged import length_batches

CELLS = 1 << 18  # numbers summed up at a time: 2 MB, few enough for a processor's cache


class Left(NamedTuple):
    """What is left of instances: the weighted sum of what their decoder mixes, and the weight."""

    mixed: Floats  # (B, M, F)
    mass: Floats  # (B, M)


def batches(view: View) -> list[Indices]:
    """Instances of similar length, as many together as memory is meant for."""
    cells = max(1, CELLS // max(view.width, 2 * view.classes))
    return length_batches(view.weights.lengths, rows=cells, cells=cells)


def each_item(view: View, rows: Indices) -> Left:
    """Every item of instances (B,) by itself, weighted: M = T."""
    weights, _ = view.weights.take(rows).pad()
    return Left(weights[..., None] * view.mixes(rows), weights)


def in_order(items: Left, orders: Indices) -> Left:
    """The same items in the order (B, T) of their removal."""
    return Left(
        np.take_along_axis(items.mixed, orders[..., None], axis=1), np.take_along_axis(items.mass, orders, axis=1)
    )


def only_first(items: Left) -> Left:
    """The first 0, 1, ..., T items: M = T + 1."""
    return Left(_running(items.mixed), _running(items.mass))


def without_first(items: Left) -> Left:
    """All but the first 0, 1, ..., T items: M = T + 1."""
    return Left(*(_running(values[:, ::-1])[:, ::-1] for values in items))


def without_each(items: Left) -> Left:
    """All items but one, for each: M = T."""
    before, after = only_first(items), without_first(items)
    return Left(
        before.mixed[:, :-1] + after.mixed[:, 1:],
        before.mass[:, :-1] + after.mass[:, 1:],
    )


def _running(values: Floats) -> Floats:
    """Sums of the first 0, 1, ..., T along the second axis."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1, *values.shape[2:]))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums
