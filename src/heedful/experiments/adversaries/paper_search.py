"""The search of Jain & Wallace 2019, section 4.2.2: several distributions, optimised together by Adam.

Instances are padded, items first and instances last, because they are decoded thousands of times. Sums over items add
padding's zeros last, and are the same in any batch. Products of matrices are not: how they add depends on the shape. So
where a decoder mixes features, an instance is padded to a length, and to a number of classes, of its own, stands in
batches with its like only, and has its products to itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from heedful.experiments.affine_view import AffineView
from heedful.experiments.tanh_view import TanhView
from heedful.ragged import Flags, Indices, Keys, Ragged, length_batches
from heedful.randomness import Stream

CELLS = 1 << 12  # items of a padded batch: its arrays stay in the processor's cache
NUMBERS = 1 << 18  # features of a padded batch, likewise
MULTIPLE = 8  # lengths, and numbers of classes, are padded to multiples of it
RATE, DECAY, SQUARES, STABLE = 0.01, 0.9, 0.999, 1e-8  # Adam's
SPREAD = 3.0  # standard deviation of the initial logits
INSIDE = 1e-10  # added inside logarithms
WEIGHT = 500.0  # the paper's lambda
Preset = Literal["paper", "released"]
Floats = NDArray[np.floating]
AddSlope = Callable[[Floats, Floats], None]  # to slopes by attention (T, k, B): what follows from those by logits


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


@dataclass(frozen=True)
class Batch(ABC):
    """Padded instances, items first."""

    own: Floats  # (T, 1, B): the model's attention, 0 in padding
    real: Flags  # (T, 1, B)

    def attention(self, free: Floats) -> Floats:
        """Softmax over the items, (T, k, B)."""
        powers = np.exp(free - free.max(axis=0, where=self.real, initial=-np.inf))
        powers *= self.real
        powers /= powers.sum(axis=0)
        return np.asarray(powers)

    @abstractmethod
    def decode(self, attention: Floats) -> tuple[Floats, AddSlope]:
        """Probabilities under other attention, (K, k, B), and the way back to it from slopes by their logits."""


@dataclass(frozen=True)
class AffineBatch(Batch):
    """With the log-odds of the items."""

    odds: Floats  # (K - 1, T, 1, B): of each class against the first, if an item had all the attention

    @classmethod
    def of(cls, weights: Ragged, alone: Ragged) -> "AffineBatch":
        """Pad instances of similar length."""
        own, real = weights.pad()  # (B, T)
        logits, _ = alone.pad()  # (B, T, K)
        odds = (logits[..., 1:] - logits[..., :1]).transpose(2, 1, 0)  # (K - 1, T, B)
        return cls(own.T[:, None].copy(), real.T[:, None].copy(), odds[:, :, None].copy())

    def decode(self, attention: Floats) -> tuple[Floats, AddSlope]:
        """Weighted sums of log-odds."""
        logits = np.stack([(attention * odds).sum(axis=0) for odds in self.odds])

        def add_slope(by_attention: Floats, by_logit: Floats) -> None:
            for odds, pull in zip(self.odds, by_logit[1:], strict=True):
                by_attention += odds * pull

        return np.asarray(softmax(np.concatenate([np.zeros_like(logits[:1]), logits]), axis=0)), add_slope


@dataclass(frozen=True)
class TanhBatch(Batch):
    """With the features of the items, and the part of the decoder that an instance's candidates need."""

    features: Floats  # (B, T, F)
    context: Floats  # (B, 1, F)
    matrix: Floats  # (B or 1, C, F)
    bias: Floats  # (B or 1, 1, C), minus infinity in padding

    @classmethod
    def of(cls, view: TanhView, rows: Indices, length: int, classes: int) -> "TanhBatch":
        """Pad instances to so many items and candidates."""
        real = np.arange(length) < view.weights.lengths[rows, None]  # (B, T)
        own = np.zeros(real.shape)
        own[real] = view.weights.take(rows).values
        features = np.zeros((*real.shape, view.context.shape[1]))
        features[real] = view.features.take(rows).values
        matrix, bias = view.decoder.matrix[None], view.decoder.bias.astype(np.float64)[None]
        if view.allowed is not None:
            chosen = np.argsort(~view.allowed[rows], axis=1, kind="stable")[:, :classes]  # (B, C), candidates first
            kept = np.take_along_axis(view.allowed[rows], chosen, axis=1)
            matrix, bias = matrix[0, chosen] * kept[..., None], np.where(kept, bias[0, chosen], -np.inf)
        first = own.T[:, None].copy(), real.T[:, None].copy()  # (T, 1, B)
        return cls(*first, features, view.context[rows, None], matrix, bias[:, None])

    def decode(self, attention: Floats) -> tuple[Floats, AddSlope]:
        """Through the decoder."""
        mixed = np.ascontiguousarray(attention.transpose(2, 1, 0)) @ self.features  # (B, k, F)
        hidden = np.tanh(mixed + self.context)
        logits = (hidden @ self.matrix.transpose(0, 2, 1) + self.bias).transpose(2, 1, 0)  # (C, k, B)

        def add_slope(by_attention: Floats, by_logit: Floats) -> None:
            by_mixed = np.ascontiguousarray(by_logit.transpose(2, 1, 0)) @ self.matrix  # (B, k, F)
            by_mixed *= 1 - hidden * hidden
            by_attention += (by_mixed @ self.features.transpose(0, 2, 1)).transpose(2, 1, 0)

        return np.asarray(softmax(logits, axis=0)), add_slope


def search(
    view: AffineView | TanhView,
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
    difference = output - own_output
    over = objective.distance * np.abs(difference).sum(axis=0) / 2 > objective.epsilon  # (k, B)
    signs = np.sign(difference)
    by_logit = output * (signs - (signs * output).sum(axis=0))  # (K, k, B)
    by_logit *= objective.penalty * objective.distance / 2 * over
    add_slope(by_a, by_logit)
    by_a -= (a * by_a).sum(axis=0)
    by_a *= a
    return by_a


def _log(x: Floats) -> Floats:
    shifted = x + INSIDE
    return np.asarray(np.log(shifted) + x / shifted)


def batches(view: AffineView | TanhView) -> Iterator[tuple[Indices, Batch]]:
    """All instances, those of similar length together: which they are, and as a batch."""
    if isinstance(view, AffineView):
        for rows in length_batches(view.weights.lengths, rows=CELLS, cells=CELLS):
            yield rows, AffineBatch.of(view.weights.take(rows), view.alone.take(rows))
    else:
        yield from _alike(view)


def _alike(view: TanhView) -> Iterator[tuple[Indices, Batch]]:
    """Batches of instances that are padded alike."""
    lengths = -(-view.weights.lengths // MULTIPLE) * MULTIPLE
    classes = np.full(len(lengths), view.classes)
    if view.allowed is not None:
        classes = np.minimum(-(-view.allowed.sum(axis=1) // MULTIPLE) * MULTIPLE, view.classes)
    kinds, kind_of_row = np.unique(np.stack([lengths, classes]), axis=1, return_inverse=True)
    for kind, (length, count) in enumerate(kinds.T.tolist()):
        rows = np.flatnonzero(kind_of_row == kind)
        size = max(1, NUMBERS // (view.context.shape[1] * (length + count)))
        for start in range(0, len(rows), size):
            yield rows[start : start + size], TanhBatch.of(view, rows[start : start + size], length, count)
