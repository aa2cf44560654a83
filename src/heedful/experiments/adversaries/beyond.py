"""Decoders that are not affine: the farthest attention that was found, by decoding it. One instance at a time.

The upper bound is what no attention exceeds whatever the decoder: all on the lightest item. If that item alone says
what the instance says, it is the optimum. Otherwise the best is taken of single items, of pairs of light ones, of what
the paper's search finds, of what lies in straight lines beyond these and towards each item as far as epsilon allows,
and of climbs that begin at the best of these. Each is decoded and found feasible.
"""

import numpy as np

from heedful.experiments.adversaries.ascent import ascend
from heedful.experiments.adversaries.blend import Blend
from heedful.experiments.adversaries.candidates import HALF, PROVEN, Found, decoder_free_bound, phi
from heedful.experiments.adversaries.rays import outwards
from heedful.experiments.adversaries.search import Objective, search
from heedful.experiments.arrays import Floats, Keys
from heedful.experiments.blends import Blends
from heedful.randomness import Stream

FEW = 16  # items of which every pair is tried
SHARES = np.linspace(0, 1, 17)[1:-1]  # of the first item of a pair


def beyond_affine(
    view: Blends, epsilon: float, stream: Stream, instances: Keys, *, distributions: int, steps: int
) -> Found:
    """The best attention found for each instance, and what none can exceed."""
    upper = decoder_free_bound(view.weights)
    found = view.weights.like(view.weights.values.copy())
    apart = []
    for index in range(len(upper)):
        item = _lightest(Blend.of(view, index), epsilon)
        if item is not None:
            found[index][:] = np.arange(len(found[index])) == item
        if item is None or upper[index] - HALF - phi(1.0, view.weights[index][item]) > PROVEN:
            apart.append(index)
    if apart:
        rest = np.array(apart)
        objective = Objective.of("paper", epsilon=epsilon, distributions=distributions, outputs=view.classes)
        searched = search(view.take(rest), objective, stream, instances[rest], distributions=distributions, steps=steps)
        for index, attention in zip(apart, searched, strict=True):
            known = np.stack([found[index], *attention.T])  # (1 + k, T)
            found[index][:] = _mixed(Blend.of(view, index), known, epsilon, stream, instances[index])
    return Found(found, upper)


def _lightest(blend: Blend, epsilon: float) -> int | None:
    """The lightest item that alone says what the instance says, if there is one."""
    feasible = np.flatnonzero(blend.distance(blend.features) <= epsilon)
    return int(feasible[blend.weights[feasible].argmin()]) if len(feasible) else None


def _mixed(blend: Blend, known: Floats, epsilon: float, stream: Stream, key: np.uint64) -> Floats:
    """The best attention (T,): of what is `known` (R, T) and feasible, or of what lies beyond that."""

    def draw(number: int, rows: int, columns: int) -> Floats:
        return stream.normal(key, number, np.arange(rows)[:, None], np.arange(columns))

    rays = outwards(blend, np.concatenate([known, np.eye(len(blend.weights))]), epsilon)
    points = np.concatenate([known, _pairs(blend, epsilon), rays])
    points = points[blend.feasible(points, epsilon)]
    if not len(points):  # rounding alone has moved the output by more
        return blend.weights
    points = np.concatenate([points, ascend(blend, points, epsilon, draw)])
    divergence = phi(points, blend.weights).sum(axis=1)
    return np.asarray(points[np.where(blend.feasible(points, epsilon), divergence, -np.inf).argmax()])


def _pairs(blend: Blend, epsilon: float) -> Floats:
    """Of every two of the lightest items those shares that are feasible, (R, T)."""
    lightest = blend.weights.argsort(kind="stable")[:FEW]
    i, j = (lightest[part] for part in np.triu_indices(len(lightest), 1))
    first, second = blend.features[i, None], blend.features[j, None]  # (pairs, 1, F)
    pair, share = np.nonzero(blend.distance(second + SHARES[:, None] * (first - second)) <= epsilon)
    points = np.zeros((len(pair), len(blend.weights)))
    rows = np.arange(len(pair))
    points[rows, i[pair]], points[rows, j[pair]] = SHARES[share], 1 - SHARES[share]
    return points
