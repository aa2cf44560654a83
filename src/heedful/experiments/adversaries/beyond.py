"""Decoders that are not affine: the farthest attention that was found, by decoding it. One instance at a time.

Nothing is known of such a decoder but what it says, so the upper bound is what no attention exceeds whatever the
decoder: all on the lightest item. If that item alone says what the instance says, it is the optimum. Otherwise the best
is taken of single items, of what the paper's search finds, and of what lies in straight lines beyond these and other
items, as far as epsilon allows; from the best of these climbs go on at random. Each is decoded and found feasible.
"""

from typing import NamedTuple

import numpy as np

from heedful.experiments.adversaries.candidates import HALF, PROVEN, Found, decoder_free_bound, phi
from heedful.experiments.adversaries.rays import Distances, climb, outwards
from heedful.experiments.adversaries.search import Objective, search
from heedful.experiments.arrays import Floats, Keys
from heedful.experiments.blends import Blends
from heedful.randomness import Stream


class Blend(NamedTuple):
    """One instance, with the part of the decoder that its candidates need."""

    weights: Floats  # (T,)
    features: Floats  # (T, F)
    context: Floats  # (F,)
    matrix: Floats  # (C, F)
    bias: Floats  # (C,)
    output: Floats  # (C,)

    @classmethod
    def of(cls, view: Blends, index: int) -> "Blend":
        """The instance of that index."""
        kept = slice(None) if view.allowed is None else np.flatnonzero(view.allowed[index])
        features = view.features[index].astype(np.float64)
        matrix, bias = view.decoder.matrix[kept], view.decoder.bias[kept].astype(np.float64)
        blend = cls(view.weights[index], features, view.context[index], matrix, bias, np.zeros(len(bias)))
        return blend._replace(output=blend.probabilities(blend.weights @ features))

    def probabilities(self, mixed: Floats) -> Floats:
        """Outputs (..., C) of mixtures (..., F)."""
        logits = np.tanh(mixed + self.context) @ self.matrix.T
        logits += self.bias
        logits -= logits.max(axis=-1, keepdims=True)
        powers = np.exp(logits, out=logits)
        powers /= powers.sum(axis=-1, keepdims=True)
        return np.asarray(powers)

    def distance(self, mixed: Floats) -> Floats:
        """How far the outputs of mixtures (..., F) are from the model's own, (...)."""
        return np.asarray(np.abs(self.probabilities(mixed) - self.output).sum(axis=-1) / 2)

    def along(self, starts: Floats, ends: Floats) -> Distances:
        """How far outputs between starts and ends (R, T) are from the model's own."""
        first, way = starts @ self.features, (ends - starts) @ self.features  # (R, F)
        return lambda part: self.distance(first[:, None] + part[..., None] * way[:, None])


def beyond_affine(
    view: Blends, epsilon: float, stream: Stream, instances: Keys, *, distributions: int, steps: int
) -> Found:
    """The best attention found for each instance, and what none can exceed."""
    upper = decoder_free_bound(view.weights)
    rows = view.weights.values.copy()
    apart = []
    for index in range(len(upper)):
        blend = Blend.of(view, index)
        feasible = blend.distance(blend.features) <= epsilon  # (T,)
        item = int(np.where(feasible, -blend.weights, -np.inf).argmax())
        if feasible[item]:
            rows[view.weights.offsets[index] : view.weights.offsets[index + 1]] = np.arange(len(feasible)) == item
        if not feasible[item] or upper[index] - HALF - phi(1.0, blend.weights[item]) > PROVEN:
            apart.append(index)
    if apart:
        objective = Objective.of("paper", epsilon=epsilon, distributions=distributions, outputs=view.classes)
        some = np.array(apart)
        searched = search(view.take(some), objective, stream, instances[some], distributions=distributions, steps=steps)
        for number, index in enumerate(apart):
            where = slice(view.weights.offsets[index], view.weights.offsets[index + 1])
            known = np.stack([rows[where], *searched[number].T])
            rows[where] = _mixed(Blend.of(view, index), known, epsilon, stream, instances[index])
    return Found(view.weights.like(rows), upper)


def _mixed(blend: Blend, known: Floats, epsilon: float, stream: Stream, key: np.uint64) -> Floats:
    """The best attention (T,) that is known (R, T), or that lies beyond."""

    def draw(number: int, rows: int, columns: int) -> Floats:
        return stream.normal(key, number, np.arange(rows)[:, None], np.arange(columns))

    targets = np.concatenate([np.eye(len(blend.weights)), known])
    points = np.concatenate([known[_feasible(blend, known, epsilon)], outwards(blend, targets, epsilon)])
    points = np.concatenate([points, climb(blend, points, epsilon, draw)])
    return _best(blend, points, epsilon)


def _feasible(blend: Blend, points: Floats, epsilon: float) -> np.ndarray:
    return blend.distance(points @ blend.features) <= epsilon


def _best(blend: Blend, points: Floats, epsilon: float) -> Floats:
    """The most divergent of the feasible points (R, T); the model's own attention if there is none."""
    feasible = _feasible(blend, points, epsilon)
    if not feasible.any():
        return blend.weights
    divergence = phi(points, blend.weights).sum(axis=1)
    return np.asarray(points[np.where(feasible, divergence, -np.inf).argmax()])
