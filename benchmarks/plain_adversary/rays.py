"""Search along straight lines, as far as epsilon allows. One instance at a time.

On a ray from the model's own attention the divergence never falls: it is convex, and 0 at the start. So the farthest
feasible point of a ray is its best, and what is left to choose is the direction. If the decoder is affine, the log-odds
move linearly, and the output is tilted exponentially: the classes that gain most go on gaining, and its distance never
falls, either. The feasible set is a star around the model's attention, then, though not convex. Of other decoders a ray
may leave the feasible set and enter it again.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from heedful.experiments.adversaries.divergence import phi
from heedful.ragged import Floats
from heedful.randomness import Stream

GRID = 17  # points of a line looked at first
NARROWINGS = 9  # of the part it ends in, by halves and by interpolation
OUTSIDE = 1e-10  # by which the sum of weights may be off
SPREAD = 3.0  # standard deviation of the logits of random targets
CLIMBS = 8
ROUNDS = 8
PROPOSALS = 8  # of a climb each round
SHRINKS = 0.5  # by how much less each round's proposals stray than the last one's

Draw = Callable[[int, int, int], Floats]  # number, rows, columns -> standard normal numbers (rows, columns)
Distances = Callable[[Floats], Floats]  # parts of R lines, (G,) for all or (R, 1) -> TVD there (R, G)


def normal_draws(stream: Stream, key: np.uint64) -> Draw:
    """Standard normal numbers of one instance."""
    return lambda number, rows, columns: stream.normal(key, number, np.arange(rows)[:, None], np.arange(columns))


class Decodable(Protocol):
    """An instance that can be decoded along straight lines."""

    @property
    def weights(self) -> Floats:
        """The model's own attention, (T,)."""

    def along(self, starts: Floats, ends: Floats) -> Distances:
        """How far outputs between starts and ends (R, T) are from the model's own."""


def outwards(instance: Decodable, targets: Floats, epsilon: float) -> Floats:
    """The farthest feasible points (R, T) of the rays from the model's own attention through targets (R, T)."""
    return farthest(instance, np.broadcast_to(instance.weights, targets.shape), targets, epsilon)


def random_rays(instance: Decodable, count: int, epsilon: float, draw: Draw) -> Floats:
    """The ends (2 count, T) of random rays, and of such as the feasible set is long in: towards sums of other ends."""
    powers = np.exp(SPREAD * draw(0, count, len(instance.weights)))
    ends = outwards(instance, powers / powers.sum(axis=1, keepdims=True), epsilon)
    strayed = instance.weights + _sums(instance, ends, draw(1, count, count))
    return np.concatenate([ends, outwards(instance, simplex(strayed, ends), epsilon)])


def climb(instance: Decodable, points: Floats, epsilon: float, draw: Draw, cloud: Floats | None = None) -> Floats:
    """Feasible points (CLIMBS, T), each at least as divergent as the one of the best of feasible `points` it began at.

    Each round strays from them at random, by less and less, and goes straight there: on the items they have. If there
    is a `cloud` of feasible points, whose shape tells where there is room, every other proposal strays to any items by
    it, and is reached from the model's own attention. Climbs do not touch one another: the highest may begin low.
    """
    divergence = phi(points, instance.weights).sum(axis=1)
    best = points[np.argsort(-divergence, kind="stable")[:CLIMBS]]
    count, size = best.shape
    own = np.arange(count * PROPOSALS)[:, None] % 2 == 0
    for number in range(ROUNDS):
        parents = np.repeat(best, PROPOSALS, axis=0)
        stray = parents * draw(2 * number + 2, len(parents), size)
        starts = parents
        if cloud is not None:
            stray = np.where(own, stray, _sums(instance, cloud, draw(2 * number + 3, len(parents), len(cloud))))
            starts = np.where(own, parents, instance.weights)
        ends = farthest(instance, starts, simplex(parents + SHRINKS**number * stray, parents), epsilon)
        known = np.concatenate([best[:, None], ends.reshape(count, PROPOSALS, size)], axis=1)
        best = known[np.arange(count), phi(known, instance.weights).sum(axis=2).argmax(axis=1)]
    return np.asarray(best)


def _sums(instance: Decodable, cloud: Floats, factors: Floats) -> Floats:
    """Random sums of the ways from the model's own attention to points of a cloud (C, T), by factors (R, C)."""
    return np.asarray(factors @ (cloud - instance.weights) / np.sqrt(len(cloud)))


def simplex(points: Floats, otherwise: Floats) -> Floats:
    """Points (R, T) made distributions."""
    points = np.maximum(points, 0.0)
    total = points.sum(axis=1, keepdims=True)
    some = total > 0
    return np.asarray(np.where(some, points / np.where(some, total, 1.0), otherwise))


def farthest(
    instance: Decodable,
    starts: Floats,
    targets: Floats,
    epsilon: float,
    *,
    points: int = GRID,
    narrowings: int = NARROWINGS,
) -> Floats:
    """From feasible starts through targets (R, T), to the farthest feasible point or the border of the simplex, by a
    grid of `points` and narrowing, to within a millionth of the line by default."""
    steps = targets - starts
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        limit = np.where(steps < 0, starts / -steps, np.inf).min(axis=1, keepdims=True)
    ends = np.maximum(starts + np.where(limit < np.inf, limit, 0.0) * steps, 0.0)
    # from a target within rounding of its start the line may lead out of the simplex
    ends = np.where(np.abs(ends.sum(axis=1, keepdims=True) - 1) > OUTSIDE, simplex(ends, starts), ends)
    distances = instance.along(starts, ends)
    grid, rows = np.linspace(0, 1, points), np.arange(len(starts))
    seen = distances(grid) - epsilon  # (R, G)
    seen[:, 0] = np.minimum(seen[:, 0], 0.0)  # but for rounding
    last = points - 1 - (seen <= 0)[:, ::-1].argmax(axis=1)
    after = np.minimum(last + 1, points - 1)
    good, bad, under, above = grid[last], grid[after], seen[rows, last], seen[rows, after]  # (R,)
    for count in range(narrowings):
        share = under / np.minimum(under - above, -1e-300) if count % 3 else 0.5
        middle = good + np.clip(share, 1e-3, 1 - 1e-3) * (bad - good)
        value = distances(middle[:, None])[:, 0] - epsilon
        met = value <= 0
        good, under = np.where(met, middle, good), np.where(met, value, under)
        bad, above = np.where(met, bad, middle), np.where(met, above, value)
    return np.asarray(starts + good[:, None] * (ends - starts))
