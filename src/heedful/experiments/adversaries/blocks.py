"""Instances of one shape, padded and searched together.

How a product of matrices adds up depends on its shape, and where two choices tie, rounding decides. So an instance is
padded to a length, and to a number of classes, that follow from its own alone, stands in blocks with its like only, and
has its products to itself: what is found for it is the same in any batch.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from heedful.experiments.adversaries.divergence import HALF, phi
from heedful.experiments.affine_view import AffineView
from heedful.experiments.tanh_view import TanhView
from heedful.ragged import Flags, Floats, Indices, Keys
from heedful.tanh_decoder import mix

CELLS = 1 << 17  # numbers of the tableaux of a block: they stay in the processor's cache
MULTIPLE = 8  # lengths are padded to multiples of it, or of an eighth of what they are
MANY = 64  # items that are searched at first, if there are more, or
PLENTY = 3  # items a class: what diverges most lies mostly on the lightest
MOST_TRIES, LEAST_TRIES = 10, 4  # programs an instance, the fewer the larger they are
HARD_TRIES = 2  # times as many if an instance is hard
MOST_TIGHT_TRIES = 24  # if small, and few items are to choose from
TRIES_CELLS = 12_000  # numbers of the tableaux of an instance


class Shape(NamedTuple):
    """What decides how an instance is searched."""

    items: int  # padded
    classes: int
    bent: bool  # whether logits are not linear in attention
    hard: bool  # whether it was searched before, in vain

    @property
    def tableau(self) -> int:
        """Numbers of a linear program's tableau."""
        return (self.classes + 3) * (self.items + 2 * self.classes + 3)

    @property
    def tight(self) -> bool:
        """Whether every direction is worth a try: few items are held near the model's attention."""
        return self.hard or self.items <= 2 * self.classes + 2

    @property
    def tries(self) -> int:
        """Linear programs an instance."""
        most = MOST_TIGHT_TRIES if self.tight and not self.bent else MOST_TRIES
        return int(np.clip(TRIES_CELLS // self.tableau, LEAST_TRIES, most)) * (HARD_TRIES if self.hard else 1)


@dataclass(frozen=True)
class Block(ABC):
    """Padded instances, or the lightest of their items; points are distributions over these, (B, R, T)."""

    shape: Shape  # of each instance
    keys: Keys  # (B,)
    items: Indices  # (B, T): which they are, in order, -1 in padding
    weights: Floats  # (B, T): the model's attention, 0 in padding
    kept: Flags  # (B, C): the classes that are not padding
    log_output: Floats  # (B, C): logarithms of the model's own output
    vectors: Floats  # (B, T, F): what attention averages

    @property
    def real(self) -> Flags:
        """Which items are not padding, (B, T)."""
        return np.asarray(self.items >= 0)

    @abstractmethod
    def logits(self, mixed: Floats) -> Floats:
        """Of mixtures (B, R, F): (B, R, C), minus infinity for padding."""

    @abstractmethod
    def item_logits(self, points: Floats) -> Floats:
        """Logits of single items if the decoder were what it is near points (B, R, T): (B, R, T, C)."""

    def distances(self, mixed: Floats, output: Floats) -> Floats:
        """How far outputs of mixtures (B, R, F) are from the model's own, (B, C): (B, R), total variation."""
        powers = self.logits(mixed)
        powers -= powers.max(axis=-1, keepdims=True)
        np.exp(powers, out=powers)
        powers /= powers.sum(axis=-1, keepdims=True)
        powers -= output[:, None]
        return np.asarray(np.abs(powers, out=powers).sum(axis=-1) / 2)

    def divergences(self, points: Floats) -> Floats:
        """From the model's own attention, (B, R)."""
        return np.asarray(HALF + phi(points, self.weights[:, None]).sum(axis=-1))


@dataclass(frozen=True)
class AffineBlock(Block):
    """Vectors are logits."""

    def logits(self, mixed: Floats) -> Floats:
        """The mixtures themselves."""
        return mixed.copy()

    def item_logits(self, points: Floats) -> Floats:
        """The same wherever one looks from."""
        return np.broadcast_to(self.vectors[:, None], (*points.shape, self.vectors.shape[2]))


@dataclass(frozen=True)
class TanhBlock(Block):
    """Vectors are features; with the part of the decoder that an instance's candidates need."""

    context: Floats  # (B, 1, F)
    matrix: Floats  # (B or 1, C, F)
    bias: Floats  # (B or 1, 1, C), minus infinity in padding

    def logits(self, mixed: Floats) -> Floats:
        """Through the decoder."""
        hidden = mixed + self.context
        return np.asarray(np.tanh(hidden, out=hidden) @ self.matrix.transpose(0, 2, 1) + self.bias)

    def item_logits(self, points: Floats) -> Floats:
        """By the tangent of the decoder at the mixtures of points."""
        mixed = points @ self.vectors  # (B, R, F)
        hidden = np.tanh(mixed + self.context)
        slopes = self.matrix[:, None] * (1 - hidden * hidden)[:, :, None]  # (B, R, C, F)
        count, tries, classes, width = slopes.shape
        bias = np.where(np.isfinite(self.bias), self.bias, 0.0)
        ahead = hidden @ self.matrix.transpose(0, 2, 1) + bias - (slopes @ mixed[..., None])[..., 0]  # (B, R, C)
        by_item = slopes.reshape(count, tries * classes, width) @ self.vectors.transpose(0, 2, 1)
        moved: Floats = by_item.reshape(count, tries, classes, -1) + ahead[..., None]
        return moved.transpose(0, 1, 3, 2)


def blocks(
    view: AffineView | TanhView, instances: Keys, rows: Indices, *, hard: bool = False
) -> Iterator[tuple[Indices, Block]]:
    """These instances (rows,), or the lightest of their items unless they are hard: which they are, and as a block."""
    classes = np.full(len(rows), view.classes)
    if isinstance(view, TanhView) and view.allowed is not None:
        classes = np.minimum(-(-view.allowed[rows].sum(axis=1) // MULTIPLE) * MULTIPLE, view.classes)
    lengths = view.weights.lengths[rows]
    if not hard:
        lengths = np.minimum(lengths, np.maximum(MANY, PLENTY * classes))
    grain = np.maximum(MULTIPLE, np.exp2(np.floor(np.log2(lengths)) - 3)).astype(np.int64)
    lengths = -(-lengths // grain) * grain
    attended = view.logits if isinstance(view, AffineView) else mix(view.weights, view.features)
    kinds, kind_of_row = np.unique(np.stack([lengths, classes]), axis=1, return_inverse=True)
    for kind, (items, count) in enumerate(kinds.T.tolist()):
        shape, alike = Shape(items, count, isinstance(view, TanhView), hard), rows[kind_of_row == kind]
        size = max(1, CELLS // (shape.tries * shape.tableau))
        for start in range(0, len(alike), size):
            some = alike[start : start + size]
            yield some, _block(view, instances, some, shape, attended[some, None])


def _block(view: AffineView | TanhView, instances: Keys, rows: Indices, shape: Shape, attended: Floats) -> Block:
    own, real = view.weights.take(rows).pad(np.inf)
    items = np.where(real, np.arange(own.shape[1]), -1)
    if own.shape[1] > shape.items:
        lightest = np.sort(own.argsort(axis=1, kind="stable")[:, : shape.items], axis=1)
        items = np.take_along_axis(items, lightest, axis=1)
        items = np.take_along_axis(items, np.argsort(items < 0, axis=1, kind="stable"), axis=1)
    items = np.pad(items, ((0, 0), (0, max(0, shape.items - items.shape[1]))), constant_values=-1)
    real = items >= 0
    cells = np.where(real, view.weights.offsets[rows, None] + items, 0)
    weights = np.where(real, view.weights.values[cells], 0.0)
    vectors = view.alone if isinstance(view, AffineView) else view.features
    padded = np.where(real[..., None], vectors.values[cells], 0.0).astype(np.float64)
    kept = np.ones((len(rows), shape.classes), dtype=bool)
    if isinstance(view, AffineView):
        log_output = log_softmax(attended[:, 0], axis=-1)
        return AffineBlock(shape, instances[rows], items, weights, kept, log_output, padded)
    matrix, bias = view.decoder.matrix[None], view.decoder.bias.astype(np.float64)[None]
    if view.allowed is not None:
        chosen = np.argsort(~view.allowed[rows], axis=1, kind="stable")[:, : shape.classes]  # candidates first
        kept = np.take_along_axis(view.allowed[rows], chosen, axis=1)
        matrix, bias = matrix[0, chosen] * kept[..., None], np.where(kept, bias[0, chosen], -np.inf)
    context = view.context[rows, None]
    logits = np.tanh(attended + context) @ matrix.transpose(0, 2, 1) + bias[:, None]  # (B, 1, C)
    log_output = log_softmax(logits[:, 0], axis=-1)
    of_instances = shape, instances[rows], items, weights, kept, log_output, padded
    return TanhBlock(*of_instances, context, matrix, bias[:, None])
