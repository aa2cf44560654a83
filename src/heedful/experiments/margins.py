"""Affine decoders: what each item says alone, and by how much it argues for the decision, in float64.

Every exact experiment stands on this. A sigmoid model (K = 1) is the two-class model with scores [0, S] and bias
[0, b]. Because attention sums to one, the bias can be given to every item: any attention `a` has logits `a @ alone`.
"""

from dataclasses import dataclass

import numpy as np

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.experiments.arrays import Floats, Indices
from heedful.experiments.sums import Sums
from heedful.experiments.view import View, normalised, shuffled
from heedful.ragged import Ragged


@dataclass(frozen=True, eq=False)
class Margins(View):
    """Instances as the exact experiments see them."""

    weights: Ragged  # (N,) float64, each row normalised
    alone: Ragged  # (N, K) float64, K >= 2: the logits if an item had all the attention
    decided: Indices  # (n,)

    @classmethod
    def of(cls, evidence: Evidence) -> "Margins":
        """Read evidence that has scores; refuse any other."""
        if evidence.scores is None or evidence.bias is None:
            raise BadInput(
                "this evidence has no columns 'scores' and 'bias', which exact answers about other attention need; "
                "they exist where the decoder is affine (see docs/formats.md)"
            )
        rows = evidence.weights.row_of_value
        alone = evidence.scores.values.astype(np.float64) + evidence.bias.astype(np.float64)[rows]
        if evidence.outputs == 1:
            alone = np.column_stack([np.zeros(len(alone)), alone])
        weights = normalised(evidence.weights)
        return cls(weights, weights.like(alone), _under(weights, alone).decided)

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

    def says(self, items: Indices) -> Sums:
        """Logits (M, K) if these of all items had all the attention of their instances."""
        alone: Floats = self.alone.values[items]
        return Sums(alone, np.abs(alone))

    @property
    def odds(self) -> Ragged:
        """Two classes only: the log-odds of the second class if an item had all the attention, (N,)."""
        if self.classes != 2:
            raise ValueError(f"log-odds are of two classes, not of {self.classes}")
        return self.alone.like(self.alone.values[:, 1] - self.alone.values[:, 0])


def _under(weights: Ragged, alone: Floats) -> Sums:
    terms = weights.values[:, None] * alone  # (N, K)
    return Sums(weights.like(terms).sum(), weights.like(np.abs(terms)).sum())
