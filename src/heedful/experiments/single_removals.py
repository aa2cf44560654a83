"""What is said without each single item, all of them at once."""

from typing import NamedTuple

import numpy as np

from heedful.experiments.arrays import Flags, Floats, Indices
from heedful.experiments.margins import Margins
from heedful.experiments.removals import each_item, without_each
from heedful.experiments.sums import TOLERANCE, flips
from heedful.experiments.view import View


class Singles(NamedTuple):
    """Logits of instances (B,) without each of their items, and whether the decision is another one."""

    logits: Floats  # (B, T, K)
    flips: Flags  # (B, T)


def single_removals(view: View, rows: Indices) -> Singles:
    """Decode what is left; where the decoder is affine, sums run class by class, (K, B, T), along memory."""
    if not isinstance(view, Margins):
        return _decoded(view, rows)
    weights, alone = view.by_class(rows)  # (B, T), (K, B, T)
    logits = _logits(weights, alone, view.bias[rows])
    decided, each = view.decided[rows], np.arange(len(rows))
    margins = logits[decided, each] - logits
    margins[decided, each] = np.inf
    found = Singles(logits.transpose(1, 2, 0), margins.min(axis=0) < 0)
    # no sum of sizes of what is left exceeds this
    greatest = 2 * np.maximum(np.abs(alone).max(axis=(0, 2)), np.abs(view.bias[rows]).max(axis=1))  # (B,)
    near = (np.abs(margins, out=margins).min(axis=0) <= TOLERANCE * greatest[:, None]).any(axis=1)
    if near.any():  # rounding could have made a tie of it: then sizes are summed up as well
        found.flips[near] = _decoded(view, rows[near], found.flips.shape[1]).flips
    return found


def _logits(weights: Floats, alone: Floats, bias: Floats) -> Floats:
    mass = _others(weights)
    none = mass == 0
    logits = _others(np.multiply(weights, alone, order="C"))
    logits /= np.where(none, 1.0, mass)
    if none.any():  # the others have no weight
        logits = np.where(none, bias.T[..., None], logits)
    return logits


def _others(values: Floats) -> Floats:
    """The sum of all others along the last axis; nothing is subtracted from a total."""
    sums = np.zeros(values.shape)
    np.cumsum(values[..., :-1], axis=-1, out=sums[..., 1:])
    sums[..., :-1] += np.cumsum(values[..., :0:-1], axis=-1)[..., ::-1]
    return sums


def _decoded(view: View, rows: Indices, width: int = 0) -> Singles:
    sums = view.left(rows, *without_each(each_item(view, rows)))
    changed = flips(sums, np.broadcast_to(view.decided[rows, None], sums.logits.shape[:2]))
    padding = np.zeros((len(rows), max(0, width - changed.shape[1])), dtype=bool)
    return Singles(sums.logits, np.concatenate([changed, padding], axis=1))
