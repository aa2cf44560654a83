"""More than two classes: what other attention reaches, and what none can exceed.

There is no closed form: the feasible set is not a polytope. Upper bound: a total variation distance of at most epsilon
holds the log-odds of any two classes in a slab, and each slab alone is the problem of two classes, solved exactly; no
maximum of these can be exceeded, nor what any decoder allows. Lower bound: the best of single items, pairs, triples and
linear programs' vertices, each decoded and found feasible; the model's own attention if there is no other.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from heedful.evidence import probabilities
from heedful.experiments.adversary_candidates import HALF, Floats, Found, decoder_free_bound, phi
from heedful.experiments.adversary_programs import vertices
from heedful.experiments.adversary_slabs import slab
from heedful.experiments.adversary_supports import Instance, Mixture, pairs, triples
from heedful.experiments.adversary_vertices import best_vertices
from heedful.experiments.margins import Margins
from heedful.measures import tvd
from heedful.ragged import Ragged
from heedful.randomness import Stream

FEW = 32  # items of which every pair and triple is tried
MANY = 64  # items that linear programs choose from, at first
TRIES = 10  # linear programs an instance
MET = 1e-9  # bounds so close leave nothing to look for

Keys = NDArray[np.uint64]


def several_classes(margins: Margins, epsilon: float, stream: Stream, instances: Keys) -> Found:
    """Lower and upper bound of the optimum for each instance."""
    upper = upper_bound(margins, epsilon)
    output = probabilities(margins.logits)
    weights, reached = _single_items(margins, output, epsilon)
    rows = weights.values.copy()
    for index in np.flatnonzero(upper - reached > MET).tolist():
        instance = Instance(margins.weights[index], margins.alone[index], output[index])
        found = _mixed(instance, epsilon, stream, instances[index])
        if found.divergence > reached[index]:
            rows[weights.offsets[index] : weights.offsets[index + 1]] = found.weights
    return Found(weights.like(rows), upper)


def upper_bound(margins: Margins, epsilon: float) -> Floats:
    """What no attention that moves the output by at most epsilon exceeds, (n,); exact for two classes."""
    output = probabilities(margins.logits)
    bound = decoder_free_bound(margins.weights)
    for c, d in combinations(range(margins.classes), 2):
        odds = margins.alone.like(margins.alone.values[:, c] - margins.alone.values[:, d])
        low, high = slab(output[:, c], output[:, d], epsilon)
        bound = np.minimum(bound, best_vertices(margins.weights, odds, low, high).divergence)
    return bound


def _single_items(margins: Margins, output: Floats, epsilon: float) -> tuple[Ragged, Floats]:
    """All weight on the lightest item that alone says what the instance says; else the model's own weights."""
    own = margins.weights
    feasible = tvd(probabilities(margins.alone.values), output[own.row_of_value]) <= epsilon  # (N,)
    best = own.like(np.where(feasible, -own.values, -np.inf)).argmax()  # (n,)
    chosen = feasible[best]
    values = np.where(chosen[own.row_of_value], 0.0, own.values)
    values[best[chosen]] = 1.0
    divergence = np.where(chosen, HALF + phi(1.0, own.values[best]), 0.0)
    return own.like(values), divergence


def _mixed(instance: Instance, epsilon: float, stream: Stream, key: np.uint64) -> Mixture:
    """The best attention on several items that was found."""
    size, three = len(instance.weights), len(instance.output) == 3
    few, kept = instance.lightest(FEW)
    tried = [pairs(few, epsilon), triples(few, epsilon)] if three else [pairs(few, epsilon)]
    best = max((mixtures.among(kept).best(instance, epsilon) for mixtures in tried), key=_divergence)
    if three and len(kept) == size and best.divergence > 0:
        return best  # of all pairs and triples there are
    for count in (MANY, size):
        many, kept = instance.lightest(count)
        noise = stream.normal(key, np.arange(TRIES)[:, None], kept)
        noise[0] = 0
        found = vertices(many, epsilon, noise).among(kept).best(instance, epsilon)
        if found.divergence > 0 or len(kept) == size:
            break
    return max(best, found, key=_divergence)


def _divergence(mixture: Mixture) -> float:
    return mixture.divergence
