"""The view of affine decoders, in float64: the logits that each item has alone. Every exact experiment rests on it.

A sigmoid model (K = 1) is the two-class model with scores [0, S] and bias [0, b]. Because attention sums to one, the
bias can be given to every item: any attention `a` has logits `a @ alone`.
"""

from dataclasses import dataclass

import numpy as np

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.experiments.view import Sums, View, normalised, shuffled
from heedful.ragged import Floats, Indices, Ragged


@dataclass(frozen=True, eq=False)
class AffineView(View):
    """Instances with the logits of each item alone."""

    weights: Ragged  # (N,) float64, each row normalised
    alone: Ragged  # (N, K) float64, K >= 2: the logits if an item had all the attention
    decided: Indices  # (n,)
    bias: Floats  # (n, K): the logits if nothing is attended to

    @classmethod
    def of(cls, evidence: Evidence) -> "AffineView":
        """Read evidence that has scores; refuse any other."""
        if evidence.scores is None or evidence.bias is None:
            raise BadInput(
                "this evidence has no columns 'scores' and 'bias', which exact answers about other attention need; "
                "they exist where the decoder is affine (see docs/formats.md)"
            )
        rows = evidence.weights.row_of_value
        scores, bias = (values.astype(np.float64) for values in (evidence.scores.values, evidence.bias))
        if evidence.outputs == 1:
            scores, bias = (np.column_stack([np.zeros(len(values)), values]) for values in (scores, bias))
        weights, alone = normalised(evidence.weights), scores + bias[rows]
        return cls(weights, weights.like(alone), _under(weights, alone).decided, bias)

    @property
    def classes(self) -> int:
        """K, at least 2."""
        return int(self.alone.values.shape[1])

    @property
    def width(self) -> int:
        """A weighted sum for each of a few classes: not worth counting."""
        return 1

    def under(self, weights: Ragged) -> Sums:
        """Logits under other weights, (n, K)."""
        return _under(weights, self.alone.values)

    def permuted(self, rows: Indices, orders: Indices) -> Sums:
        """Logits (B, P, K) of instances (B,) under weights in orders (B, P, T)."""
        weights, _ = self.weights.take(rows).pad()  # (B, T)
        alone, _ = self.alone.take(rows).pad()  # (B, T, K)
        moved = shuffled(weights, orders)  # (B, P, T)
        return Sums(moved @ alone, moved @ np.abs(alone))

    def decode_single(self, items: Indices) -> Sums:
        """Logits (M, K) of single items (M,)."""
        alone: Floats = self.alone.values[items]
        return Sums(alone, np.abs(alone))

    @property
    def unattended(self) -> Sums:
        """Logits if nothing is attended to, (n, K): the bias."""
        return Sums(self.bias, np.abs(self.bias))

    def item_vectors(self, rows: Indices) -> Floats:
        """The logits of each item alone, and their absolute values: (B, T, 2K)."""
        alone, _ = self.alone.take(rows).pad()
        return np.concatenate([alone, np.abs(alone)], axis=-1)

    def decode_sums(self, rows: Indices, mixed: Floats, mass: Floats) -> Sums:
        """Logits (B, M, K) of instances (B,) from weighted sums (B, M, 2K) of total weight (B, M)."""
        none, total = mass == 0, np.where(mass == 0, 1.0, mass)[..., None]
        logits, sizes = np.split(mixed / total, 2, axis=-1)
        if none.any():
            logits[none] = np.broadcast_to(self.bias[rows, None], logits.shape)[none]
            sizes[none] = np.abs(logits[none])
        return Sums(logits, sizes)

    def by_class(self, rows: Indices) -> tuple[Floats, Floats]:
        """Weights (B, T), and the logits of items alone by class, (K, B, T), so that sums run along memory. Padding has
        no weight; its logits are arbitrary."""
        lengths = self.weights.lengths[rows]
        places = np.arange(int(lengths.max(initial=0)))
        cells = np.minimum(self.weights.offsets[rows, None] + places, len(self.weights.values) - 1)  # (B, T)
        weights = np.where(places < lengths[:, None], self.weights.values.take(cells), 0.0)
        return weights, np.moveaxis(self.alone.values.take(cells, axis=0), 2, 0)

    def effects(self, directions: Floats) -> Ragged:
        """Derivative of logits in directions (n, K) by the weight of each item: its scores, without the bias."""
        rows = self.weights.row_of_value
        scores = self.alone.values - self.bias[rows]
        return self.weights.like((scores * directions[rows]).sum(axis=1))

    def take(self, rows: Indices) -> "AffineView":
        """Some of the instances."""
        return AffineView(self.weights.take(rows), self.alone.take(rows), self.decided[rows], self.bias[rows])

    @property
    def odds(self) -> Ragged:
        """Two classes only: the log-odds of the second class if an item had all the attention, (N,)."""
        if self.classes != 2:
            raise ValueError(f"log-odds are of two classes, not of {self.classes}")
        return self.alone.like(self.alone.values[:, 1] - self.alone.values[:, 0])


def _under(weights: Ragged, alone: Floats) -> Sums:
    terms = weights.values[:, None] * alone  # (N, K)
    return Sums(weights.like(terms).sum(), weights.like(np.abs(terms)).sum())
