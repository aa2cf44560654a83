"""The smallest set of items whose removal changes the decision: what every ranking is measured against.

For one rival, removing the items that argue most for the decision against it leaves the least margin that so many
removals can leave. So the first step at which the rival wins is the least number for it, and the best of all rivals is
the optimum. One more way is to remove everything that has weight, where nothing attended to decides otherwise.
"""

from typing import NamedTuple

import numpy as np

from heedful.experiments.arrays import Flags, Floats, Indices
from heedful.experiments.margins import Margins
from heedful.experiments.sums import TOLERANCE, Sums, behind, flips

_NEVER = np.iinfo(np.int64).max


class FlipSets(NamedTuple):
    """The smallest sets of instances (B,); of several, that which the rival of the lowest index gains from."""

    counts: Indices  # (B,); 0: the decision never changes
    chosen: Flags  # (B, T)


def smallest_flip_sets(view: Margins, rows: Indices) -> FlipSets:
    """Exact for an affine decoder and any number of classes, in O(K T log T)."""
    weights, mask = view.weights.take(rows).pad()  # (B, T)
    alone, _ = view.alone.take(rows).pad()  # (B, T, K)
    decided = view.decided[rows]
    own = np.take_along_axis(alone, decided[:, None, None], axis=2)  # (B, T, 1)
    margins = weights[..., None] * (own - alone)
    sizes = weights[..., None] * (np.abs(own) + np.abs(alone))  # (B, T, K)
    orders = _falling(margins, sizes, mask, decided)
    counts = _steps(weights, margins, sizes, orders, decided)  # (B, K)
    each, rival = np.arange(len(rows)), counts.argmin(axis=1)
    least = counts[each, rival]
    count = np.where(least < _NEVER, least, 0)
    chosen = np.zeros(mask.shape, dtype=bool)
    np.put_along_axis(chosen, orders[each, :, rival], np.arange(mask.shape[1]) < count[:, None], axis=1)
    weighty = weights > 0
    everything = flips(Sums(*(values[rows] for values in view.nothing)), decided) & (weighty.sum(axis=1) < least)
    return FlipSets(np.where(everything, weighty.sum(axis=1), count), np.where(everything[:, None], weighty, chosen))


def _falling(margins: Floats, sizes: Floats, mask: Flags, decided: Indices) -> Indices:
    """Items by what they contribute to the margin over each rival, (B, T, K).

    A rival wins once the sum is beyond its tolerance, which is a share of the sum of sizes. With that share given to
    each item, the sum is compared with zero, and taking the greatest away first is the best one can do, also to the
    last digit.
    """
    sign = np.where(np.arange(margins.shape[-1]) < decided[:, None], -1.0, 1.0)[:, None]  # (B, 1, K)
    corrected = margins + sign * TOLERANCE * sizes
    return np.where(mask[..., None], -corrected, np.inf).argsort(axis=1, kind="stable")


def _steps(weights: Floats, margins: Floats, sizes: Floats, orders: Indices, decided: Indices) -> Indices:
    """After how many removals in its order each rival wins with some weight left, (B, K)."""

    def left(values: Floats) -> Floats:
        """What is left after 0, ..., T - 1 removals, (B, T, K)."""
        ordered = np.take_along_axis(values, orders, axis=1)
        return np.asarray(ordered[:, ::-1].cumsum(axis=1)[:, ::-1])

    mass = left(np.broadcast_to(weights[..., None], margins.shape))
    won = behind(left(margins), left(sizes), np.broadcast_to(decided[:, None], weights.shape)) & (mass > 0)
    won[:, 0] = False  # nothing is removed yet
    return np.asarray(np.where(won.any(axis=1), won.argmax(axis=1), _NEVER))
