"""Padded instances as the paper's search decodes them, thousands of times: items first, and instances last.

Sums over items add padding's zeros last, and are the same in any batch. Products of matrices are not: how they add
depends on the shape. So where a decoder mixes features, an instance is padded to a length, and to a number of classes,
of its own, stands in batches with its like only, and has its products to itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from heedful.experiments.arrays import Flags, Indices
from heedful.experiments.blends import Blends
from heedful.experiments.margins import Margins
from heedful.ragged import Ragged, length_batches

CELLS = 1 << 12  # items of a padded batch: its arrays stay in the processor's cache
NUMBERS = 1 << 18  # features of a padded batch, likewise
MULTIPLE = 8  # lengths, and numbers of classes, are padded to multiples of it

Floats = NDArray[np.floating]
AddSlope = Callable[[Floats, Floats], None]  # to slopes by attention (T, k, B): what follows from those by logits


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
class BlendBatch(Batch):
    """With the features of the items, and the part of the decoder that an instance's candidates need."""

    features: Floats  # (B, T, F)
    context: Floats  # (B, 1, F)
    matrix: Floats  # (B or 1, C, F)
    bias: Floats  # (B or 1, 1, C), minus infinity in padding

    @classmethod
    def of(cls, view: Blends, rows: Indices, length: int, classes: int) -> "BlendBatch":
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


def batches(view: Margins | Blends) -> Iterator[tuple[Indices, Batch]]:
    """All instances, those of similar length together: which they are, and as a batch."""
    if isinstance(view, Margins):
        for rows in length_batches(view.weights.lengths, rows=CELLS, cells=CELLS):
            yield rows, AffineBatch.of(view.weights.take(rows), view.alone.take(rows))
    else:
        yield from _alike(view)


def _alike(view: Blends) -> Iterator[tuple[Indices, Batch]]:
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
            yield rows[start : start + size], BlendBatch.of(view, rows[start : start + size], length, count)
