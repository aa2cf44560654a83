"""The view of tanh decoders, which are not affine: averages of features go through the decoder.

Items have no scores, so nothing can be said about all attention at once: only about weights that are decoded.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.experiments.view import Sums, View, normalised, shuffled
from heedful.ragged import Flags, Floats, Indices, Ragged
from heedful.tanh_decoder import CELLS, TanhDecoder, mix, row_slices


@dataclass(frozen=True, eq=False)
class TanhView(View):
    """Instances with the features that attention averages."""

    weights: Ragged  # (N,) float64, each row normalised
    features: Ragged  # (N, F) float32
    context: Floats  # (n, F)
    decoder: TanhDecoder
    allowed: Flags | None  # (n, K): the candidates; None: all
    decided: Indices  # (n,)

    @classmethod
    def of(cls, evidence: Evidence) -> "TanhView":
        """Read evidence that has features; refuse any other."""
        if evidence.features is None or evidence.context is None or evidence.decoder is None:
            raise BadInput(
                "this evidence has neither columns 'scores' and 'bias' nor 'features' and 'context' with a decoder, of "
                "which experiments on other attention need one (see docs/formats.md)"
            )
        weights, context = normalised(evidence.weights), evidence.context.astype(np.float64)
        own = decoded(evidence.decoder, mix(weights, evidence.features), context, evidence.allowed)
        return cls(weights, evidence.features, context, evidence.decoder, evidence.allowed, own.decided)

    @property
    def classes(self) -> int:
        """K, at least 2."""
        return len(self.decoder.bias)

    @property
    def width(self) -> int:
        """Features or logits, whichever are more."""
        return max(self.classes, int(self.context.shape[1]))

    def under(self, weights: Ragged) -> Sums:
        """Logits under other weights, (n, K)."""
        return decoded(self.decoder, mix(weights, self.features), self.context, self.allowed)

    def permuted(self, rows: Indices, orders: Indices) -> Sums:
        """Logits (B, P, K) of instances (B,) under weights in orders (B, P, T)."""
        weights, _ = self.weights.take(rows).pad()  # (B, T)
        features, _ = self.features.take(rows).pad()  # (B, T, F)
        allowed = None if self.allowed is None else self.allowed[rows, None]  # (B, 1, K)
        mixed = shuffled(weights, orders) @ features.astype(np.float64)  # (B, P, F)
        return decoded(self.decoder, mixed, self.context[rows, None], allowed)

    def decode_single(self, items: Indices) -> Sums:
        """Logits (M, K) of single items (M,)."""
        rows = np.searchsorted(self.weights.offsets, items, side="right") - 1
        allowed = None if self.allowed is None else self.allowed[rows]
        return decoded(self.decoder, self.features.values[items], self.context[rows], allowed)

    @property
    def unattended(self) -> Sums:
        """Logits if nothing is attended to, (n, K): the decoder reads the context alone."""
        return decoded(self.decoder, np.zeros_like(self.context), self.context, self.allowed)

    def item_vectors(self, rows: Indices) -> Floats:
        """The features of each item, (B, T, F)."""
        features, _ = self.features.take(rows).pad()
        return np.asarray(features, dtype=np.float64)

    def decode_sums(self, rows: Indices, mixed: Floats, mass: Floats) -> Sums:
        """Logits (B, M, K) of instances (B,) from weighted sums (B, M, F) of total weight (B, M)."""
        total = np.where(mass == 0, 1.0, mass)[..., None]  # of nothing the sum is zero, whatever divides it
        allowed = None if self.allowed is None else self.allowed[rows, None]
        return decoded(self.decoder, mixed / total, self.context[rows, None], allowed)

    def effects(self, directions: Floats) -> Ragged:
        """Derivative of logits in directions (n, K) by the weight of each item, through tanh."""
        hidden = np.tanh(mix(self.weights, self.features) + self.context)  # (n, F)
        slopes = (directions @ self.decoder.matrix) * (1 - hidden**2)
        moved = np.empty(len(self.weights.values))
        for start, stop in row_slices(self.weights, max(1, CELLS // max(1, slopes.shape[1]))):
            part = self.features.slice(start, stop)
            along = (part.values * slopes[start:stop][part.row_of_value]).sum(axis=1)
            moved[self.weights.offsets[start] : self.weights.offsets[stop]] = along
        return self.weights.like(moved)

    def take(self, rows: Indices) -> "TanhView":
        """Some of the instances."""
        return TanhView(
            self.weights.take(rows),
            self.features.take(rows),
            self.context[rows],
            self.decoder,
            None if self.allowed is None else self.allowed[rows],
            self.decided[rows],
        )


def decoded(decoder: TanhDecoder, mixed: Floats, context: Floats, allowed: Flags | None) -> Sums:
    """Logits of mixtures (..., F); rounding is measured against the absolute contributions of the hidden units."""
    hidden = np.tanh(mixed + context)  # (..., F)
    if allowed is None:
        return _logits(hidden, decoder.matrix, decoder.bias)
    classes = np.arange(allowed.shape[-1])
    wanted = classes[allowed.reshape(-1, len(classes)).any(axis=0)]  # a text has few candidates of many classes
    some = _logits(hidden, decoder.matrix[wanted], decoder.bias[wanted])
    logits, sizes = np.full((*hidden.shape[:-1], len(classes)), -np.inf), np.zeros((*hidden.shape[:-1], len(classes)))
    logits[..., wanted] = np.where(allowed[..., wanted], some.logits, -np.inf)
    sizes[..., wanted] = some.sizes
    return Sums(logits, sizes)


def _logits(hidden: Floats, matrix: Floats, bias: NDArray[np.float32]) -> Sums:
    return Sums(hidden @ matrix.T + bias, np.abs(hidden) @ np.abs(matrix).T + np.abs(bias))
