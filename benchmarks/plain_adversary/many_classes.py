"""More than two classes: how far other attention gets, and a bound that none can exceed.

There is no closed form, since the feasible set is not a polytope. Upper bound: a total variation distance of at most
epsilon holds the log-odds of any two classes in a slab, and each slab alone is the problem of two classes, solved
exactly; no maximum of these can be exceeded, nor what any decoder allows. Lower bound: the best of single items, pairs,
triples, linear programs' vertices and what the paper's search finds, and of what lies beyond these in straight lines,
each decoded and found feasible; the model's own attention if there is no other.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from benchmarks.plain_adversary.mixtures import Instance, Mixture, Mixtures, corners, pairs, triples
from benchmarks.plain_adversary.rays import climb, normal_draws, outwards, random_rays
from heedful.evidence import probabilities
from heedful.experiments.adversaries.divergence import HALF, PROVEN, Found, phi
from heedful.experiments.adversaries.many_classes import upper_bound
from heedful.experiments.adversaries.paper_search import Objective, search
from heedful.experiments.affine_view import AffineView
from heedful.measures import tvd
from heedful.ragged import Flags, Floats, Keys, Ragged
from heedful.randomness import Stream

SHRINK = (0.98, 0.9, 0.7, 0.4, 0.1)  # of the ball, until its mixtures are feasible
LIGHT = 1e-4  # a weight: lighter items have its slope
FEW = 32  # items of which every pair and triple is tried
MANY = 64  # items that linear programs choose from, at first
TRIES = 10  # linear programs an instance
TIGHT = 2  # items a class: so few are held near the model's attention, and every direction is worth a try
RAYS = 64  # random ones, then
SHORT = 4  # items a class: so few that the paper's search might win
DISTRIBUTIONS, STEPS = 5, 500  # of the paper's search


def several_classes(view: AffineView, epsilon: float, stream: Stream, instances: Keys) -> Found:
    """Lower and upper bound of the optimum for each instance."""
    upper = upper_bound(view, epsilon)
    output = view.output
    weights, reached = _single_items(view, output, epsilon)
    rows = weights.values.copy()
    unproven = upper - reached > PROVEN  # (n,)
    searched = _searched(view, unproven, epsilon, stream, instances)
    for index in np.flatnonzero(unproven).tolist():
        instance = Instance(view.weights[index], view.alone[index], output[index])
        found = _mixed(instance, searched.get(index), epsilon, stream, instances[index])
        if found.divergence > reached[index]:
            rows[weights.offsets[index] : weights.offsets[index + 1]] = found.weights
    return Found(weights.like(rows), upper)


def _single_items(view: AffineView, output: Floats, epsilon: float) -> tuple[Ragged, Floats]:
    """All weight on the lightest item that alone gives the same output; else the model's own weights."""
    own = view.weights
    feasible = tvd(probabilities(view.alone.values), output[own.row_of_value]) <= epsilon  # (N,)
    best = own.like(np.where(feasible, -own.values, -np.inf)).argmax()  # (n,)
    chosen = feasible[best]
    values = np.where(chosen[own.row_of_value], 0.0, own.values)
    values[best[chosen]] = 1.0
    divergence = np.where(chosen, HALF + phi(1.0, own.values[best]), 0.0)
    return own.like(values), divergence


def _searched(view: AffineView, wanted: Flags, epsilon: float, stream: Stream, instances: Keys) -> dict[int, Floats]:
    """What the paper's search finds for short instances (k, T), by their index: with its seed it never beats us."""
    rows = np.flatnonzero(wanted & (view.weights.lengths <= SHORT * view.classes))
    if not len(rows):
        return {}
    short = view.take(rows)
    objective = Objective.of("paper", epsilon=epsilon, distributions=DISTRIBUTIONS, outputs=view.classes)
    found = search(short, objective, stream, instances[rows], distributions=DISTRIBUTIONS, steps=STEPS)
    return {int(row): found[index].T for index, row in enumerate(rows)}


def _mixed(instance: Instance, searched: Floats | None, epsilon: float, stream: Stream, key: np.uint64) -> Mixture:
    """The best attention on several items that was found: on few items, then farther along straight lines."""
    size, classes = instance.alone.shape
    few, kept = instance.lightest(FEW)
    found = [pairs(few, epsilon).among(kept).best(instance, epsilon)]
    if classes == 3:
        found.append(triples(few, epsilon).among(kept).best(instance, epsilon))
    targets = [] if searched is None else [searched]
    if classes > 3 or size > FEW or max(mixture.divergence for mixture in found) <= 0:
        ended = _programs(instance, epsilon, stream, key)
        found.append(ended.best(instance, epsilon))
        targets.append(ended.dense(size))
    if searched is not None:
        found.append(Mixtures.everywhere(searched).best(instance, epsilon))
    draw = normal_draws(stream, key)
    points = np.stack([mixture.weights for mixture in found])
    if targets:
        points = np.concatenate([points, outwards(instance, np.concatenate(targets), epsilon)])
    cloud = None
    if size <= TIGHT * classes:
        cloud = random_rays(instance, RAYS, epsilon, draw)
        points = np.concatenate([points, outwards(instance, np.eye(size), epsilon), cloud])
    if classes > 3 or cloud is not None:  # with three classes and many items, triples suffice
        points = climb(instance, points, epsilon, draw, cloud)
    found.append(Mixtures.everywhere(points).best(instance, epsilon))
    return max(found, key=lambda mixture: mixture.divergence)


def _programs(instance: Instance, epsilon: float, stream: Stream, key: np.uint64) -> Mixtures:
    """The vertices that linear programs end at: of the lightest items, and of all if these have none feasible."""
    size, classes = instance.alone.shape
    for count in (MANY, size):
        many, kept = instance.lightest(count)
        noise = stream.normal(key, np.arange(2 * TRIES)[:, None], kept)
        noise[0] = 0
        costs = far_costs(many.weights, noise[:TRIES])
        if size <= TIGHT * classes:
            costs = np.concatenate([costs, near_costs(many.weights, noise[TRIES:])])
        ended = vertices(many, epsilon, costs).among(kept)
        if len(kept) == size or ended.feasible(instance, epsilon).any():
            break
    return ended


def far_costs(weights: Floats, noise: Floats) -> Floats:
    """What items of these weights (T,) fall short of log 2, perturbed by standard normal noise (tries, T)."""
    return np.asarray((HALF - phi(1.0, weights)) * np.exp(noise / 2))


def near_costs(weights: Floats, noise: Floats) -> Floats:
    """In any direction, (tries, T), by standard normal noise: slopes of the divergence near weights (T,)."""
    return np.asarray(noise / np.sqrt(np.maximum(weights, LIGHT)))


def vertices(instance: Instance, epsilon: float, costs: Floats) -> Mixtures:
    """The vertices that programs with these costs (tries, T) end at, feasible or not."""
    everything = np.arange(len(instance.weights))
    found = Mixtures(np.empty((0, len(everything)), dtype=np.int64), np.empty((0, len(everything))))
    for shrink in SHRINK:
        shares = _solve(instance, corners(instance.output, shrink * epsilon), costs)
        if shares is None:  # a smaller ball holds none either
            break
        ended = Mixtures(np.tile(everything, (len(shares), 1)), shares)
        found = Mixtures(*(np.concatenate(parts) for parts in zip(found, ended, strict=True)))
        costs = costs[~ended.feasible(instance, epsilon)]
        if not len(costs):
            break
    return found


def _solve(instance: Instance, reached: Floats, costs: Floats) -> Floats | None:
    """The cheapest mixture of items that has the log-odds of some mixture of `reached` (R, K), by each row of costs.

    The programs differ in costs alone and are solved as one, which is several times faster.
    """
    (tries, items), ends = costs.shape, len(reached)
    odds = (instance.alone[:, 1:] - instance.alone[:, :1]).T  # (K - 1, T)
    aims = (reached[:, 1:] - reached[:, :1]).T  # (K - 1, R)
    program = np.block([[odds, -aims], [np.ones(items), np.zeros(ends)], [np.zeros(items), np.ones(ends)]])
    sums = np.concatenate([np.zeros(len(odds)), [1.0, 1.0]])
    blocks: Any = sparse.kron(sparse.eye_array(tries), program, format="csc")  # SciPy's stubs know of arrays only
    result = linprog(
        np.pad(costs, ((0, 0), (0, ends))).ravel(), A_eq=blocks, b_eq=np.tile(sums, tries), method="highs-ds"
    )
    if result.status != 0 or result.x is None:
        return None
    shares = np.maximum(result.x.reshape(tries, items + ends)[:, :items], 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
