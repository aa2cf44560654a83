"""Tanh decoders: the farthest attention found by search, each candidate decoded. One instance at a time.

The upper bound holds for any decoder: all weight on the lightest item. If that item alone gives the same output, it is
the optimum. Otherwise the best is taken of single items, pairs of light ones, what the paper's search finds, what lies
beyond these and towards each item in straight lines, and climbs from the best of these, each found feasible.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.plain_adversary.rays import Distances, Draw, farthest, normal_draws, outwards, simplex
from heedful.experiments.adversaries.divergence import HALF, PROVEN, Found, decoder_free_bound, phi
from heedful.experiments.adversaries.paper_search import Objective, search
from heedful.experiments.tanh_view import TanhView
from heedful.ragged import Flags, Floats, Keys
from heedful.randomness import Stream

FEW = 16  # items of which every pair is tried
SHARES = np.linspace(0, 1, 17)[1:-1]  # of the first item of a pair
CLIMBS = 8
ROUNDS = 8
GAIN = 1e-4  # of the highest climb: less in a round, and climbing ends
STEPS = 2.0 ** -np.arange(0, 4, 0.5)  # sizes of the steps that a climb tries each round
UPWARDS = 0.5  # how much the slope of the divergence adds to the noise
RIDGE = 0.1
CLASSES = 32  # the likeliest, whose slopes are looked at; lines end where any class says so
POINTS, NARROWINGS = 9, 5  # of a line: rounds are many, and need not end exactly at the border


class TanhInstance(NamedTuple):
    """An instance, with the rows of the decoder that its candidates need."""

    weights: Floats  # (T,)
    features: Floats  # (T, F)
    context: Floats  # (F,)
    matrix: Floats  # (C, F)
    bias: Floats  # (C,)
    output: Floats  # (C,)

    @classmethod
    def of(cls, view: TanhView, index: int) -> "TanhInstance":
        """The instance of that index."""
        kept = slice(None) if view.allowed is None else np.flatnonzero(view.allowed[index])
        features = view.features[index].astype(np.float64)
        matrix, bias = view.decoder.matrix[kept], view.decoder.bias[kept].astype(np.float64)
        instance = cls(view.weights[index], features, view.context[index], matrix, bias, np.zeros(len(bias)))
        return instance._replace(output=instance.probabilities(instance.hidden(instance.weights @ features)))

    def hidden(self, mixed: Floats) -> Floats:
        """What the decoder makes of mixtures (..., F)."""
        return np.asarray(np.tanh(mixed + self.context))

    def probabilities(self, hidden: Floats) -> Floats:
        """Outputs (..., C) of hidden units (..., F)."""
        logits = hidden @ self.matrix.T
        logits += self.bias
        logits -= logits.max(axis=-1, keepdims=True)
        powers = np.exp(logits, out=logits)
        powers /= powers.sum(axis=-1, keepdims=True)
        return np.asarray(powers)

    def distance(self, mixed: Floats) -> Floats:
        """How far the outputs of mixtures (..., F) are from the model's own, (...)."""
        return np.asarray(np.abs(self.probabilities(self.hidden(mixed)) - self.output).sum(axis=-1) / 2)

    def feasible(self, points: Floats, epsilon: float) -> Flags:
        """Which attention (R, T) truly moves the output by at most epsilon, (R,)."""
        return self.distance(points @ self.features) <= epsilon

    def along(self, starts: Floats, ends: Floats) -> Distances:
        """How far outputs between starts and ends (R, T) are from the model's own."""
        first, way = starts @ self.features, (ends - starts) @ self.features  # (R, F)
        return lambda part: self.distance(first[:, None] + part[..., None] * way[:, None])

    def slopes(self, points: Floats, classes: int) -> Floats:
        """Of the likeliest classes' probabilities by the weight of each item, (R, classes, T), at points (R, T)."""
        likeliest = np.argsort(-self.output, kind="stable")[:classes]
        hidden = self.hidden(points @ self.features)  # (R, F)
        output, steep = self.probabilities(hidden), 1 - hidden * hidden
        means = (output @ self.matrix * steep) @ self.features.T  # (R, T), of all logits' slopes
        by_item = (self.matrix[likeliest] * steep[:, None]) @ self.features.T  # (R, classes, T), of logits
        return np.asarray(output[:, likeliest, None] * (by_item - means[:, None]))


def beyond_affine(
    view: TanhView, epsilon: float, stream: Stream, instances: Keys, *, distributions: int, steps: int
) -> Found:
    """The best attention found for each instance, and what none can exceed."""
    upper = decoder_free_bound(view.weights)
    found = view.weights.like(view.weights.values.copy())
    remaining = []
    for index in range(len(upper)):
        item = _lightest(TanhInstance.of(view, index), epsilon)
        if item is not None:
            found[index][:] = np.arange(len(found[index])) == item
        if item is None or upper[index] - HALF - phi(1.0, view.weights[index][item]) > PROVEN:
            remaining.append(index)
    if remaining:
        rows = np.array(remaining)
        objective = Objective.of("paper", epsilon=epsilon, distributions=distributions, outputs=view.classes)
        searched = search(view.take(rows), objective, stream, instances[rows], distributions=distributions, steps=steps)
        for index, attention in zip(remaining, searched, strict=True):
            known = np.stack([found[index], *attention.T])  # (1 + k, T)
            found[index][:] = _mixed(TanhInstance.of(view, index), known, epsilon, stream, instances[index])
    return Found(found, upper)


def _lightest(instance: TanhInstance, epsilon: float) -> int | None:
    """The lightest item that alone gives the same output, if there is one."""
    feasible = np.flatnonzero(instance.distance(instance.features) <= epsilon)
    return int(feasible[instance.weights[feasible].argmin()]) if len(feasible) else None


def _mixed(instance: TanhInstance, known: Floats, epsilon: float, stream: Stream, key: np.uint64) -> Floats:
    """The best attention (T,): of what is `known` (R, T) and feasible, or of what lies beyond that."""
    draw = normal_draws(stream, key)
    rays = outwards(instance, np.concatenate([known, np.eye(len(instance.weights))]), epsilon)
    points = np.concatenate([known, _pairs(instance, epsilon), rays])
    points = points[instance.feasible(points, epsilon)]
    if not len(points):  # rounding alone has moved the output by more
        return instance.weights
    points = np.concatenate([points, ascend(instance, points, epsilon, draw)])
    divergence = phi(points, instance.weights).sum(axis=1)
    return np.asarray(points[np.where(instance.feasible(points, epsilon), divergence, -np.inf).argmax()])


def _pairs(instance: TanhInstance, epsilon: float) -> Floats:
    """Of every two of the lightest items those shares that are feasible, (R, T)."""
    lightest = instance.weights.argsort(kind="stable")[:FEW]
    i, j = (lightest[part] for part in np.triu_indices(len(lightest), 1))
    first, second = instance.features[i, None], instance.features[j, None]  # (pairs, 1, F)
    pair, share = np.nonzero(instance.distance(second + SHARES[:, None] * (first - second)) <= epsilon)
    points = np.zeros((len(pair), len(instance.weights)))
    rows = np.arange(len(pair))
    points[rows, i[pair]], points[rows, j[pair]] = SHARES[share], 1 - SHARES[share]
    return points


def ascend(instance: TanhInstance, points: Floats, epsilon: float, draw: Draw) -> Floats:
    """Feasible attention (CLIMBS, T) from the best of feasible `points` (R, T) on."""
    divergence = phi(points, instance.weights).sum(axis=1)
    order = np.argsort(-divergence, kind="stable")[:CLIMBS]
    best, highest = points[order], divergence[order[0]]
    count, size = best.shape
    for number in range(ROUNDS):
        noise = draw(number, count * len(STEPS), size).reshape(count, len(STEPS), size)
        level = _level(instance, best, noise + UPWARDS * _upwards(instance, best)[:, None], epsilon)
        starts = np.repeat(best, len(STEPS), axis=0)
        targets = simplex((best[:, None] * (1 + STEPS[:, None] * level)).reshape(starts.shape), starts)
        ends = farthest(instance, starts, targets, epsilon, points=POINTS, narrowings=NARROWINGS)
        known = np.concatenate([best[:, None], ends.reshape(level.shape)], axis=1)  # (climbs, 1 + steps, T)
        reached = phi(known, instance.weights).sum(axis=2)
        best = known[np.arange(count), reached.argmax(axis=1)]
        if reached.max() - highest < GAIN:
            break
        highest = reached.max()
    return np.concatenate([best, outwards(instance, best, epsilon)])


def _level(instance: TanhInstance, best: Floats, strayed: Floats, epsilon: float) -> Floats:
    """What is nearest to `strayed` (climbs, steps, T) of what hardly moves the output."""
    slopes = instance.slopes(best, CLASSES) / epsilon  # (climbs, C, T)
    by_step = best[:, None] * (slopes - (slopes * best[:, None]).sum(axis=2, keepdims=True))
    back = by_step.transpose(0, 2, 1)  # (climbs, T, C)
    square = by_step @ back + RIDGE * np.eye(slopes.shape[1])
    factors = np.linalg.solve(square, by_step @ strayed.transpose(0, 2, 1))  # (climbs, C, steps)
    return np.asarray(strayed - factors.transpose(0, 2, 1) @ by_step)


def _upwards(instance: TanhInstance, best: Floats) -> Floats:
    """The slope of the divergence by the weights (climbs, T), with a mean of 0 and a deviation of 1 under them."""
    ratio = 2 * best / np.maximum(best + instance.weights, 1e-300)
    slope = np.log(np.maximum(ratio, 1e-3))
    slope -= (best * slope).sum(axis=1, keepdims=True)
    return np.asarray(slope / (np.sqrt((best * slope * slope).sum(axis=1, keepdims=True)) + 1e-12))
