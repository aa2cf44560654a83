"""An affine decoder of several classes: attention on two items, exactly.

On two items the log-odds of two classes are linear in the share of the first, so their slabs leave an interval of it:
none at all for most pairs. Within that the distance need not fall and rise only once: a grid finds where it is small
enough, and bisection the ends. The divergence is convex in the share, and largest at one of these.
"""

from itertools import combinations

import numpy as np

from heedful.experiments.adversaries.blocks import Block
from heedful.experiments.adversaries.divergence import phi
from heedful.experiments.adversaries.two_classes import slab
from heedful.ragged import Floats

FEW = 24  # items of which every pair is tried, the lightest
GRID = 17  # points of an interval looked at before bisection
HALVINGS = 20


def best_pairs(block: Block, epsilon: float) -> Floats:
    """For each instance the most divergent feasible distribution on two items, (B, 1, T); zeros if there is none."""
    output = np.exp(block.log_output)
    lightest = np.where(block.real, block.weights, np.inf).argsort(axis=1, kind="stable")[:, :FEW]
    alone = np.take_along_axis(block.vectors, lightest[:, :, None], axis=1)  # (B, FEW, C)
    i, j = np.triu_indices(lightest.shape[1], 1)
    start, stop = np.zeros((len(lightest), len(i))), np.ones((len(lightest), len(i)))  # of the share of i
    for c, d in combinations(range(output.shape[1]), 2):
        odds = alone[:, :, c] - alone[:, :, d]
        low, high = slab(output[:, [c]], output[:, [d]], epsilon)
        with np.errstate(divide="ignore", invalid="ignore"):  # equal odds: infinite ends, on one side if not feasible
            ends = ((bound - odds[:, j]) / (odds[:, i] - odds[:, j]) for bound in (low, high))
            first, second = ends
        start, stop = np.fmax(start, np.fmin(first, second)), np.fmin(stop, np.fmax(first, second))
    real = np.take_along_axis(block.real, lightest, axis=1)
    row, pair = np.nonzero((start <= stop) & real[:, i] & real[:, j])
    start, stop, i, j = start[row, pair], stop[row, pair], i[pair], j[pair]

    def excess(share: Floats) -> Floats:
        logits = alone[row, j, None] + share[..., None] * (alone[row, i] - alone[row, j])[:, None]  # (M, G, C)
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        powers /= powers.sum(axis=-1, keepdims=True)
        return np.asarray(np.abs(powers - output[row, None]).sum(axis=-1) / 2 - epsilon)

    grid = start[:, None] + (stop - start)[:, None] * np.linspace(0, 1, GRID)  # (M, G)
    inside = excess(grid) <= 0
    edges = np.stack([inside.argmax(axis=1), GRID - 1 - inside[:, ::-1].argmax(axis=1)], axis=1)  # (M, 2)
    good = np.take_along_axis(grid, edges, axis=1)
    bad = np.take_along_axis(grid, np.clip(edges + np.array([-1, 1]), 0, GRID - 1), axis=1)
    for _ in range(HALVINGS if len(row) else 0):
        middle = (good + bad) / 2
        met = excess(middle) <= 0
        good, bad = np.where(met, middle, good), np.where(met, bad, middle)
    weights = np.take_along_axis(block.weights, lightest, axis=1)
    reached = phi(good, weights[row, i, None]) + phi(1 - good, weights[row, j, None])  # (M, 2)
    reached[~inside.any(axis=1)] = -np.inf
    last = np.lexsort((reached.max(axis=1), row))  # the best of each row comes last
    last = last[np.flatnonzero(np.diff(row[last], append=-1))]
    share = good[last, reached[last].argmax(axis=1)]
    found = np.zeros((*block.weights.shape[:1], 1, block.shape.items))
    found[row[last], 0, lightest[row[last], i[last]]] = share
    found[row[last], 0, lightest[row[last], j[last]]] = 1 - share
    return found
