"""Search along straight lines, as far as epsilon allows, for all instances of a block.

On a ray from the model's own attention the divergence never falls: it is convex, and 0 at the start. So the farthest
feasible point of a ray is its best, and what is left to choose is the direction. If the decoder is affine, the log-odds
move linearly, and the output is tilted exponentially: the classes that gain most go on gaining, and its distance never
falls, either. The feasible set is a star around the model's attention, then, though not convex. Of other decoders a ray
may leave the feasible set and enter it again.
"""

from collections.abc import Callable

import numpy as np

from heedful.experiments.adversaries.blocks import Block
from heedful.ragged import Flags, Floats
from heedful.randomness import Stream

GRID = 5  # points of a line looked at first
NARROWINGS = 6  # of the part it ends in, by halves and by interpolation
OUTSIDE = 1e-10  # by which the sum of weights may be off
SPREAD = 3.0  # standard deviation of the logits of random targets
RAYS = 32  # random ones
CLIMBS = 8
ROUNDS = 8
PROPOSALS = 8  # of a climb each round
SHRINKS = 0.5  # by how much less each round's proposals stray than the last one's


class Lines:
    """Lines of a block's instances, and where they end."""

    def __init__(self, block: Block, epsilon: float, stream: Stream) -> None:
        self.block, self.epsilon, self.stream = block, epsilon, stream
        self.output = np.exp(block.log_output)

    def draw(self, number: int, rows: int, columns: int) -> Floats:
        """Standard normal numbers (B, rows, columns), of each instance by itself."""
        keys = self.block.keys[:, None, None]
        return self.stream.normal(keys, number, np.arange(rows)[:, None], np.arange(columns))

    def excess(self, points: Floats) -> Floats:
        """By how much points (B, R, T) move the output too far, (B, R)."""
        return self.block.distances(points @ self.block.vectors, self.output) - self.epsilon

    def feasible_or_own(self, points: Floats) -> Floats:
        """Points (B, R, T), the model's own attention in place of those that move the output too far."""
        return np.where((self.excess(points) <= 0)[..., None], points, self.block.weights[:, None])

    def outwards(self, targets: Floats) -> Floats:
        """The farthest feasible points of the rays from the model's own attention through targets (B, R, T)."""
        return self.farthest(np.broadcast_to(self.block.weights[:, None], targets.shape), targets)

    def random_rays(self) -> Floats:
        """The ends (B, 2 RAYS, T) of random rays, and of such as the feasible set is long in: towards sums of ends."""
        powers = np.exp(SPREAD * self.draw(0, RAYS, self.block.shape.items)) * self.block.real[:, None]
        ends = self.outwards(powers / powers.sum(axis=-1, keepdims=True))
        strayed = self.block.weights[:, None] + self._sums(ends, self.draw(1, RAYS, RAYS))
        return np.concatenate([ends, self.outwards(simplex(strayed, ends))], axis=1)

    def climb(self, points: Floats, cloud: Floats) -> Floats:
        """Feasible points (B, CLIMBS, T), each at least as divergent as the one of the best of feasible `points` it
        began at.

        Each round strays from them at random, by less and less, and goes straight there: on the items they have. Every
        other proposal strays to any items by the shape of a `cloud` of feasible points, which tells where there is
        room, and is reached from the model's own attention. Climbs do not touch one another: the highest may begin low.
        """
        block = self.block
        order = np.argsort(-block.divergences(points), axis=1, kind="stable")[:, :CLIMBS]
        best = np.take_along_axis(points, order[:, :, None], axis=1)
        count, climbs, size = best.shape
        own = np.arange(climbs * PROPOSALS)[:, None] % 2 == 0
        for number in range(ROUNDS):
            parents = np.repeat(best, PROPOSALS, axis=1)
            near = parents * self.draw(2 * number + 2, parents.shape[1], size)
            stray = np.where(own, near, self._sums(cloud, self.draw(2 * number + 3, parents.shape[1], cloud.shape[1])))
            starts = np.where(own, parents, block.weights[:, None])
            ends = self.farthest(starts, simplex(parents + SHRINKS**number * stray, parents))
            known = np.concatenate([best[:, :, None], ends.reshape(count, climbs, PROPOSALS, size)], axis=2)
            reached = block.divergences(known.reshape(count, -1, size)).reshape(known.shape[:3])
            best = np.take_along_axis(known, reached.argmax(axis=2)[:, :, None, None], axis=2)[:, :, 0]
        return np.asarray(best)

    def farthest(self, starts: Floats, targets: Floats) -> Floats:
        """From feasible starts through targets (B, R, T), to the farthest feasible point or the border of the simplex,
        by a grid and by narrowing, to within a thousandth of the line or so."""
        steps = targets - starts
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            limit = np.where(steps < 0, starts / -steps, np.inf).min(axis=-1, keepdims=True)
        ends = np.maximum(starts + np.where(limit < np.inf, limit, 0.0) * steps, 0.0)
        # from a target within rounding of its start the line may lead out of the simplex
        ends = np.where(np.abs(ends.sum(axis=-1, keepdims=True) - 1) > OUTSIDE, simplex(ends, starts), ends)
        first, way = starts @ self.block.vectors, (ends - starts) @ self.block.vectors  # (B, R, F)
        none = np.zeros(starts.shape[:2])

        def excess(part: Floats) -> Floats:
            return self.block.distances(first + part[..., None] * way, self.output) - self.epsilon

        part = last_feasible(excess, none, none + 1.0)
        return np.asarray(starts + part[..., None] * (ends - starts))

    def _sums(self, cloud: Floats, factors: Floats) -> Floats:
        """Random sums of the ways from the model's own attention to points of a cloud, by factors (B, R, cloud)."""
        return np.asarray(factors @ (cloud - self.block.weights[:, None]) / np.sqrt(cloud.shape[1]))


def last_feasible(excess: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """The last part of each line (B, R), between low and high, at which nothing is in excess; low if there is none."""
    good, bad, under, above = low, high, np.zeros_like(low), np.zeros_like(low)
    for number in range(1, GRID):
        part = low + (high - low) * (number / (GRID - 1))
        value = excess(part)
        met = value <= 0
        edge = ~met & (bad <= good) if number > 1 else ~met
        good, under = np.where(met, part, good), np.where(met, value, under)
        bad, above = np.where(edge, part, bad), np.where(edge, value, above)
        bad = np.where(met, part, bad)
    for count in range(NARROWINGS):
        share = under / np.minimum(under - above, -1e-300) if count % 3 else 0.5
        part = good + np.clip(share, 1e-3, 1 - 1e-3) * (bad - good)
        value = excess(part)
        met = value <= 0
        good, under = np.where(met, part, good), np.where(met, value, under)
        bad, above = np.where(met, bad, part), np.where(met, above, value)
    return good


def simplex(given: Floats | Flags, otherwise: Floats) -> Floats:
    """Points (..., T) made distributions."""
    points = np.maximum(given, 0.0)
    total = points.sum(axis=-1, keepdims=True)
    some = total > 0
    return np.asarray(np.where(some, points / np.where(some, total, 1.0), otherwise))
