"""More than two classes: what no attention can exceed, and how far the search gets.

There is no closed form, since the feasible set is not a polytope. A total variation distance of at most epsilon holds
the log-odds of any two classes in a slab, and each slab alone is the problem of two classes, solved exactly; no maximum
of these can be exceeded, nor what any decoder allows.
"""

from itertools import combinations

import numpy as np

from heedful.experiments.adversaries.divergence import Found, decoder_free_bound
from heedful.experiments.adversaries.two_classes import best_vertices, slab
from heedful.experiments.adversaries.vertex_search import farthest_found
from heedful.experiments.affine_view import AffineView
from heedful.ragged import Floats, Keys
from heedful.randomness import Stream


def several_classes(view: AffineView, epsilon: float, stream: Stream, instances: Keys) -> Found:
    """Lower and upper bound of the optimum for each instance."""
    return farthest_found(view, upper_bound(view, epsilon), epsilon, stream, instances)


def upper_bound(view: AffineView, epsilon: float) -> Floats:
    """What no attention that moves the output by at most epsilon exceeds, (n,); exact for two classes."""
    output = view.output
    bound = decoder_free_bound(view.weights)
    for c, d in combinations(range(view.classes), 2):
        odds = view.alone.like(view.alone.values[:, c] - view.alone.values[:, d])
        low, high = slab(output[:, c], output[:, d], epsilon)
        bound = np.minimum(bound, best_vertices(view.weights, odds, low, high).divergence)
    return bound
