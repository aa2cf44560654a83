"""More than two classes: attention on at most K items, by linear programs. One instance at a time.

phi(x, w) is convex and 0 at x = 0, so HALF + sum_t a_t phi(1, alpha_t) is never less than the divergence, and little
more where light items have the weight. Its maximum under linear constraints is a vertex on few items. The constraint is
that the log-odds are a mixture of those at the corners of a ball a little smaller than epsilon's; such outputs lie in
epsilon's ball but for curvature, so each vertex is checked. Perturbed costs give further vertices to choose from. Where
items are too few to leave the model's attention far behind, the divergence is nearly sum_t (a_t - alpha_t)^2 / alpha_t
(over 8), which rises in any direction, and costs are drawn from those of all directions.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from heedful.experiments.adversaries.candidates import HALF, phi
from heedful.experiments.adversaries.supports import Instance, Mixtures, corners
from heedful.experiments.arrays import Floats

SHRINK = (0.98, 0.9, 0.7, 0.4, 0.1)  # of the ball, until its mixtures are feasible

LIGHT = 1e-4  # a weight: lighter items have its slope


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
        np.pad(costs, ((0, 0), (0, ends))).ravel(),
        A_eq=blocks,
        b_eq=np.tile(sums, tries),
        method="highs-ds",
    )
    if result.status != 0 or result.x is None:
        return None
    shares = np.maximum(result.x.reshape(tries, items + ends)[:, :items], 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
