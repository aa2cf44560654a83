"""The paper's own search for adversarial attention: Adam on a relaxed objective (Jain & Wallace 2019, section 4.2.2).

For each instance, k distributions are softmaxes of free logits that minimise

    sum_i [ penalty * max(0, D_i - epsilon) - JSD(a_i, alpha) ] - diversity * sum_{i<j} JSD(a_i, a_j)

where D_i is the distance of the output under a_i from the model's. The last iterate is kept. Instances do not touch
one another. Arrays are (T, k, B), items first (see batches.py).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from heedful.experiments.adversaries.batches import Batch, Floats, batches
from heedful.experiments.arrays import Keys
from heedful.experiments.blends import Blends
from heedful.experiments.margins import Margins
from heedful.ragged import Ragged
from heedful.randomness import Stream

RATE, DECAY, SQUARES, STABLE = 0.01, 0.9, 0.999, 1e-8  # Adam's
SPREAD = 3.0  # standard deviation of the initial logits
INSIDE = 1e-10  # added inside logarithms
WEIGHT = 500.0  # the paper's lambda

Preset = Literal["paper", "released"]


@dataclass(frozen=True)
class Objective:
    """What is minimised; the paper's text and its code differ in these numbers (docs/fidelity.md)."""

    epsilon: float
    penalty: float
    diversity: float  # of an unordered pair
    distance: float  # how many total variation distances D is

    @classmethod
    def of(cls, preset: Preset, *, epsilon: float, distributions: int, outputs: int) -> "Objective":
        """The objective of the paper's text, or of its released code, in which softmax outputs move by their L1."""
        k = distributions
        if preset == "paper":
            return cls(epsilon, WEIGHT / k, 1 / max(1, k * (k - 1)), 1.0)
        return cls(epsilon, WEIGHT, 2 / k**2, 1.0 if outputs == 1 else 2.0)


def search(
    view: Margins | Blends,
    objective: Objective,
    stream: Stream,
    instances: Keys,
    *,
    distributions: int,
    steps: int,
) -> Ragged:
    """The distributions found for each instance, (N, k)."""
    found = np.empty((len(view.weights.values), distributions))
    for rows, batch in batches(view):
        draws, items = np.arange(distributions)[:, None], np.arange(len(batch.own))[:, None, None]
        # the paper adds log(1/T) to these, which no softmax can see
        free = SPREAD * stream.normal(instances[rows], draws, items)  # (T, k, B)
        attention = batch.attention(minimise(free, batch, objective, steps)).transpose(2, 0, 1)  # (B, T, k)
        cells = np.concatenate([np.arange(*view.weights.offsets[row : row + 2]) for row in rows])
        found[cells] = attention[batch.real[:, 0].T]
    return view.weights.like(found)


def minimise(free: Floats, batch: Batch, objective: Objective, steps: int) -> Floats:
    """Adam with the maximum of squares (amsgrad) on free logits (T, k, B); the last iterate."""
    free = free.copy()
    mean, square, largest = np.zeros_like(free), np.zeros_like(free), np.zeros_like(free)
    own_output, _ = batch.decode(batch.own)  # (K, 1, B)
    for step in range(1, steps + 1):
        slope = gradient(free, batch, objective, own_output)
        mean += (1 - DECAY) * (slope - mean)
        square += (1 - SQUARES) * (slope * slope - square)
        np.maximum(largest, square, out=largest)
        scale = np.sqrt(largest)
        scale /= np.sqrt(1 - SQUARES**step)
        scale += STABLE
        free -= RATE / (1 - DECAY**step) * mean / scale
    return free


def gradient(free: Floats, batch: Batch, objective: Objective, own_output: Floats) -> Floats:
    """Of the objective by the free logits, (T, k, B).

    With m the mean of p and q, and c = INSIDE,
    d JSD(p, q) / dp = 1/2 [ log(p + c) + p / (p + c) - log(m + c) - m / (m + c) ]: `_log` of p less that of m.
    """
    a = batch.attention(free)
    count = a.shape[1]
    by_a = _log((a + batch.own) / 2)
    by_a -= (1 + objective.diversity * (count - 1)) * _log(a)
    for i in range(count):
        for j in range(i):
            middle = objective.diversity * _log((a[:, i] + a[:, j]) / 2)
            by_a[:, i] += middle
            by_a[:, j] += middle
    by_a /= 2
    output, add_slope = batch.decode(a)  # (K, k, B)
    apart = output - own_output
    over = objective.distance * np.abs(apart).sum(axis=0) / 2 > objective.epsilon  # (k, B)
    signs = np.sign(apart)
    by_logit = output * (signs - (signs * output).sum(axis=0))  # (K, k, B)
    by_logit *= objective.penalty * objective.distance / 2 * over
    add_slope(by_a, by_logit)
    by_a -= (a * by_a).sum(axis=0)
    by_a *= a
    return by_a


def _log(x: Floats) -> Floats:
    shifted = x + INSIDE
    return np.asarray(np.log(shifted) + x / shifted)
