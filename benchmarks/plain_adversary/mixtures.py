"""More than two classes: attention on two items, or on three, that moves the output by epsilon. One instance at a time.

Among distributions with one output, those on at most K items hold one that diverges most, and unless that is a single
item its output lies at the border of what epsilon allows. On a pair of items that border is found by bisection; for
three classes, three items reach any output within their triangle, of which the corners of the ball of radius epsilon
are tried.
"""

from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from benchmarks.plain_adversary.rays import Distances
from heedful.evidence import probabilities
from heedful.experiments.adversaries.divergence import HALF, phi
from heedful.experiments.adversaries.two_classes import slab
from heedful.measures import tvd
from heedful.ragged import Flags, Floats, Indices

GRID = 17  # points of a segment looked at before bisection
HALVINGS = 30
LEAST = 1e-30  # probability: what has vanished by rounding still needs a logarithm


class Instance(NamedTuple):
    """One instance, or some of its items."""

    weights: Floats  # (T,)
    alone: Floats  # (T, K)
    output: Floats  # (K,)

    def along(self, starts: Floats, ends: Floats) -> Distances:
        """How far outputs between starts and ends (R, T) are from the model's own."""
        first, way = (starts @ self.alone).T, ((ends - starts) @ self.alone).T  # (K, R)
        return lambda part: _distance(first[:, :, None] + part * way[:, :, None], self.output)

    def lightest(self, count: int) -> tuple["Instance", Indices]:
        """The `count` items of least weight, and which they are: what diverges most lies mostly on these."""
        kept = self.weights.argsort(kind="stable")[:count]
        return Instance(self.weights[kept], self.alone[kept], self.output), kept


class Mixture(NamedTuple):
    """One distribution over all items."""

    weights: Floats  # (T,)
    divergence: float  # from the model's own


class Mixtures(NamedTuple):
    """Distributions that each lie on the same number of items."""

    items: Indices  # (R, support)
    shares: Floats  # (R, support)

    @classmethod
    def everywhere(cls, weights: Floats) -> "Mixtures":
        """Distributions (R, T) over all items."""
        return cls(np.tile(np.arange(weights.shape[1]), (len(weights), 1)), weights)

    def among(self, items: Indices) -> "Mixtures":
        """The same in an instance of which these were only some `items`."""
        return Mixtures(items[self.items], self.shares)

    def feasible(self, instance: Instance, epsilon: float) -> Flags:
        """Which truly move the output by at most epsilon, (R,)."""
        logits = np.einsum("rs,rsk->rk", self.shares, instance.alone[self.items])  # (R, K)
        return np.asarray(tvd(probabilities(logits), instance.output) <= epsilon)

    def dense(self, size: int) -> Floats:
        """As distributions over all items, (R, size)."""
        weights = np.zeros((len(self.items), size))
        np.put_along_axis(weights, self.items, self.shares, axis=1)
        return weights

    def best(self, instance: Instance, epsilon: float) -> Mixture:
        """The most divergent of the feasible ones; if there is none, the model's own attention."""
        feasible = self.feasible(instance, epsilon)
        if not feasible.any():
            return Mixture(instance.weights, 0.0)
        divergence = HALF + phi(self.shares, instance.weights[self.items]).sum(axis=1)
        top = int(np.where(feasible, divergence, -np.inf).argmax())
        weights = np.zeros(len(instance.weights))
        weights[self.items[top]] = self.shares[top]
        return Mixture(weights, float(divergence[top]))


def corners(output: Floats, epsilon: float) -> Floats:
    """Logits (K (K - 1), K) of the outputs that differ from `output` in two classes, by epsilon each; they span a ball
    of that radius. A class with less than epsilon gives nearly all it has."""
    output = np.maximum(output, LEAST)
    gains, gives = np.nonzero(~np.eye(len(output), dtype=bool))
    amount = np.minimum(epsilon, output[gives] * (1 - 1e-3))
    moved = np.tile(output, (len(gains), 1))
    moved[np.arange(len(gains)), gains] += amount
    moved[np.arange(len(gains)), gives] -= amount
    return np.asarray(np.log(moved))


def pairs(instance: Instance, epsilon: float) -> Mixtures:
    """Every two items, at the first and the last share of theirs that is feasible.

    The log-odds of two classes are linear in the share, so their slabs leave an interval of it. Within that the
    distance need not fall and rise only once: a grid finds where it is small enough, and bisection the ends.
    """
    i, j = np.triu_indices(len(instance.weights), 1)
    start, stop = np.zeros(len(i)), np.ones(len(i))  # of the share of i
    for c, d in combinations(range(len(instance.output)), 2):
        odds = instance.alone[:, c] - instance.alone[:, d]
        low, high = slab(instance.output[c], instance.output[d], epsilon)
        with np.errstate(divide="ignore", invalid="ignore"):  # equal odds: infinite ends, on one side if not feasible
            ends = (low - odds[j]) / (odds[i] - odds[j]), (high - odds[j]) / (odds[i] - odds[j])
        start, stop = np.fmax(start, np.fmin(*ends)), np.fmin(stop, np.fmax(*ends))
    met = start <= stop
    i, j, start, stop = i[met], j[met], start[met], stop[met]

    def feasible(share: Floats, of: Indices | slice = slice(None)) -> Flags:
        first, second = instance.alone[i[of], None], instance.alone[j[of], None]  # (R, 1, K)
        return np.asarray(tvd(probabilities(second + share[..., None] * (first - second)), instance.output) <= epsilon)

    grid = start[:, None] + (stop - start)[:, None] * np.linspace(0, 1, GRID)  # (R, G)
    inside = feasible(grid)
    some = np.flatnonzero(inside.any(axis=1))
    edges = np.stack([inside[some].argmax(axis=1), GRID - 1 - inside[some, ::-1].argmax(axis=1)], axis=1)  # (R, 2)
    good = np.take_along_axis(grid[some], edges, axis=1)
    bad = np.take_along_axis(grid[some], np.clip(edges + np.array([-1, 1]), 0, GRID - 1), axis=1)
    for _ in range(HALVINGS if len(some) else 0):
        middle = (good + bad) / 2
        met = feasible(middle, some)
        good, bad = np.where(met, middle, good), np.where(met, bad, middle)
    share = good.T.ravel()
    return Mixtures(np.tile(np.stack([i[some], j[some]], axis=1), (2, 1)), np.stack([share, 1 - share], axis=1))


def triples(instance: Instance, epsilon: float) -> Mixtures:
    """Three classes: every three items whose triangle holds a corner of the ball, as the mixture that meets it."""
    plane = instance.alone[:, 1:] - instance.alone[:, :1]  # (T, 2)
    logits = corners(instance.output, epsilon * (1 - 1e-9))  # rounding must not take them out of the ball
    x, y = (plane - (logits[:, 1:] - logits[:, :1])[:, None]).transpose(2, 0, 1)  # (6, T) each: from corner to item
    # twice the signed areas of the triangles that two items make with a corner; those of three, as parts of their sum,
    # are the mixture that meets the corner
    area = x[:, :, None] * y[:, None] - y[:, :, None] * x[:, None]  # (6, T, T)
    items = _triples(len(plane))  # (R, 3)
    i, j, k = items.T
    areas = np.stack([area[:, j, k], area[:, k, i], area[:, i, j]], axis=-1)  # (6, R, 3)
    whole = areas.sum(axis=-1)  # (6, R)
    holds = (whole != 0) & ((areas >= 0).all(axis=-1) | (areas <= 0).all(axis=-1))
    return Mixtures(items[np.nonzero(holds)[1]], areas[holds] / whole[holds][:, None])


def _distance(logits: Floats, output: Floats) -> Floats:
    """How far outputs of logits (K, R, G) are from `output`, (R, G): classes first, which is fastest."""
    powers = np.exp(logits - logits.max(axis=0))
    powers /= powers.sum(axis=0)
    powers -= output[:, None, None]
    return np.asarray(np.abs(powers).sum(axis=0) / 2)


@cache
def _triples(count: int) -> Indices:
    return np.array(list(combinations(range(count), 3)), dtype=np.int64).reshape(-1, 3)
