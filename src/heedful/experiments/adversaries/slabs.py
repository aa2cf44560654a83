"""From epsilon to bounds on log-odds, and the exact answer that these give for two classes."""

import numpy as np

from heedful.evidence import probabilities
from heedful.experiments.adversaries.candidates import SLACK, Found
from heedful.experiments.adversaries.vertices import best_vertices
from heedful.experiments.arrays import Floats
from heedful.experiments.margins import Margins
from heedful.experiments.view import View
from heedful.measures import tvd
from heedful.ragged import Ragged

ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of the largest score, in sums of a few terms


def two_classes(margins: Margins, epsilon: float) -> Found:
    """The global optimum: |sigmoid(a @ odds) - y| <= epsilon is a slab (see vertices.py).

    Scores of 1e7 and more have too few digits to meet its bounds; what misses them aims a little inside.
    """
    output = margins.output  # (n, 2)
    low, high = slab(output[:, 1], output[:, 0], epsilon)
    vertices = best_vertices(margins.weights, margins.odds, low, high)
    found = Found(vertices.weights(margins.weights), vertices.divergence)
    missed = moved(margins, found.weights) > epsilon + SLACK  # (n,)
    if not missed.any():
        return found
    rounding = ROUNDING * margins.alone.like(np.abs(margins.alone.values).max(axis=1)).max()
    inside = np.where(missed, np.minimum(rounding, (high - low) / 4), 0.0)
    nearer = best_vertices(margins.weights, margins.odds, low + inside, high - inside)
    return found._replace(weights=nearer.weights(margins.weights))


def slab(chosen: Floats, other: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The log-odds log(chosen / other) that two classes' probabilities can have after moving by at most epsilon.

    A probability of at most epsilon can vanish, and the log-odds then have no bound.
    """
    with np.errstate(divide="ignore"):
        low = np.log(np.maximum(chosen - epsilon, 0.0)) - np.log(other + epsilon)
        high = np.log(chosen + epsilon) - np.log(np.maximum(other - epsilon, 0.0))
    return low, high


def moved(view: View, weights: Ragged) -> Floats:
    """By how much other attention moves the output, (n,): the total variation distance it really has."""
    return tvd(view.output, probabilities(view.under(weights).logits))
