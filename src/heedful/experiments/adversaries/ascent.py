"""Climbs along the border of what epsilon allows, by the slopes of a decoder that mixes features.

Attention that strays at random moves the output, and soon by more than epsilon. With the weights a and B (C, T) the
slopes of the output, in units of epsilon, by x in the step a * (x - a @ x), the nearest to random numbers x of what
hardly moves the output is x - B' (B B' + RIDGE)^-1 B x. Each climb tries several such steps, some large and some small,
follows each straight on as far as it can, and goes on from the best end. Items that have lost all weight stay without.
"""

import numpy as np

from heedful.experiments.adversaries.blend import Blend
from heedful.experiments.adversaries.candidates import phi
from heedful.experiments.adversaries.rays import Draw, farthest, outwards, simplex
from heedful.experiments.arrays import Floats

CLIMBS = 8
ROUNDS = 8
GAIN = 1e-4  # of the highest climb: less in a round, and climbing ends
STEPS = 2.0 ** -np.arange(0, 4, 0.5)  # sizes of the steps that a climb tries each round
UPWARDS = 0.5  # how much the slope of the divergence adds to the noise
RIDGE = 0.1
CLASSES = 32  # the likeliest, whose slopes are looked at; lines end where any class says so
POINTS, NARROWINGS = 9, 5  # of a line: rounds are many, and need not end exactly at the border


def ascend(blend: Blend, points: Floats, epsilon: float, draw: Draw) -> Floats:
    """Feasible attention (CLIMBS, T) from the best of feasible `points` (R, T) on."""
    divergence = phi(points, blend.weights).sum(axis=1)
    order = np.argsort(-divergence, kind="stable")[:CLIMBS]
    best, highest = points[order], divergence[order[0]]
    count, size = best.shape
    for number in range(ROUNDS):
        noise = draw(number, count * len(STEPS), size).reshape(count, len(STEPS), size)
        level = _level(blend, best, noise + UPWARDS * _upwards(blend, best)[:, None], epsilon)
        starts = np.repeat(best, len(STEPS), axis=0)
        targets = simplex((best[:, None] * (1 + STEPS[:, None] * level)).reshape(starts.shape), starts)
        ends = farthest(blend, starts, targets, epsilon, points=POINTS, narrowings=NARROWINGS)
        known = np.concatenate([best[:, None], ends.reshape(level.shape)], axis=1)  # (climbs, 1 + steps, T)
        reached = phi(known, blend.weights).sum(axis=2)
        best = known[np.arange(count), reached.argmax(axis=1)]
        if reached.max() - highest < GAIN:
            break
        highest = reached.max()
    return np.concatenate([best, outwards(blend, best, epsilon)])


def _level(blend: Blend, best: Floats, strayed: Floats, epsilon: float) -> Floats:
    """What is nearest to `strayed` (climbs, steps, T) of what hardly moves the output."""
    slopes = blend.slopes(best, CLASSES) / epsilon  # (climbs, C, T)
    by_step = best[:, None] * (slopes - (slopes * best[:, None]).sum(axis=2, keepdims=True))
    back = by_step.transpose(0, 2, 1)  # (climbs, T, C)
    square = by_step @ back + RIDGE * np.eye(slopes.shape[1])
    factors = np.linalg.solve(square, by_step @ strayed.transpose(0, 2, 1))  # (climbs, C, steps)
    return np.asarray(strayed - factors.transpose(0, 2, 1) @ by_step)


def _upwards(blend: Blend, best: Floats) -> Floats:
    """The slope of the divergence by the weights (climbs, T), with a mean of 0 and a deviation of 1 under them."""
    ratio = 2 * best / np.maximum(best + blend.weights, 1e-300)
    slope = np.log(np.maximum(ratio, 1e-3))
    slope -= (best * slope).sum(axis=1, keepdims=True)
    return np.asarray(slope / (np.sqrt((best * slope * slope).sum(axis=1, keepdims=True)) + 1e-12))
