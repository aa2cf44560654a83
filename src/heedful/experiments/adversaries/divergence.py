"""How far other attention is from the model's own, and how far it could be, whatever the decoder.

With phi(x, w) = 1/2 [x log(2x / (x + w)) + w log(2w / (x + w)) - w log 2], the Jensen-Shannon divergence of `a` from
`alpha` is (log 2) / 2 + sum_t phi(a_t, alpha_t): items without weight in `a` add nothing. phi is convex in x, 0 at
x = 0, and falls as w grows.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from heedful.ragged import Floats, Indices, Ragged

HALF = math.log(2) / 2
PROVEN = 1e-9  # a gap between bounds that is rounding: they meet
SLACK = 1e-9  # by which rounding may take an output beyond epsilon


class Found(NamedTuple):
    """Other attention for each instance, and what no feasible attention can exceed."""

    weights: Ragged  # (N,)
    upper: Floats  # (n,)


def phi(x: ArrayLike, w: ArrayLike) -> Floats:
    """What an item of weight w adds to the divergence if it is given weight x instead (see above)."""
    x, w = np.asarray(x, dtype=np.float64), np.asarray(w, dtype=np.float64)
    return np.asarray((xlogy(x, x) + xlogy(w, w) - xlogy(x + w, x + w)) / 2 + HALF * x)


def xlogx(x: Floats) -> Floats:
    """x log x, 0 at 0: faster than SciPy's, for positive numbers."""
    return np.asarray(x * np.log(np.maximum(x, 1e-300)))


def decoder_free_bound(weights: Ragged) -> Floats:
    """The largest divergence any attention has from these weights, (n,): all on the item that had least."""
    least = -weights.like(-weights.values).max()
    return HALF + phi(1.0, least)


def farthest(divergence: Floats, distance: Floats, epsilon: float) -> Indices:
    """Which candidate (n, candidates) is the most divergent of those that move the output by at most epsilon, (n,). At
    least one must be feasible; the model's own attention always is."""
    return np.asarray(np.where(distance <= epsilon, divergence, -np.inf).argmax(axis=1))
