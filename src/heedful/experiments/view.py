"""Evidence as experiments see it: the weights, the decisions, and what other weights would have given.

Most experiments need no more than a `View`, whatever the decoder. Those with an exact answer for affine decoders only
ask for an `AffineView`.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from heedful.evidence import probabilities
from heedful.ragged import Flags, Floats, Indices, Ragged

TOLERANCE = 1e-12  # of the sum of absolute contributions: what rounding may make of a tie


class Sums(NamedTuple):
    """Logits as sums of contributions, and sums of their absolute values, against which rounding is measured."""

    logits: Floats  # (..., K)
    sizes: Floats  # (..., K)

    @property
    def decided(self) -> Indices:
        """The decision, (...): the lowest class on ties."""
        return first_best(self.logits, self.sizes)


def first_best(logits: Floats, sizes: Floats) -> Indices:
    """The largest logit, (...): a later class wins if it beats the best so far by more than rounding."""
    best = np.zeros(logits.shape[:-1], dtype=np.int64)
    top, size = logits[..., 0].copy(), sizes[..., 0].copy()
    with np.errstate(invalid="ignore"):  # of two classes at minus infinity the later one does not win
        for rival in range(1, logits.shape[-1]):
            wins = logits[..., rival] - top > TOLERANCE * (size + sizes[..., rival])
            best = np.where(wins, rival, best)
            top = np.where(wins, logits[..., rival], top)
            size = np.where(wins, sizes[..., rival], size)
    return best


def behind(margins: Floats, sizes: Floats, decided: Indices) -> Flags:
    """Which rivals beat the decision (...), by its margins over them (..., K): those of lower index win ties."""
    rivals = np.arange(margins.shape[-1])
    tie = TOLERANCE * sizes
    lost = np.where(rivals < decided[..., None], margins <= tie, margins < -tie)
    return np.asarray(lost & (rivals != decided[..., None]))


def flips(sums: Sums, decided: Indices) -> Flags:
    """Whether logits (..., K) decide otherwise than `decided` (...)."""
    own, size = (np.take_along_axis(values, decided[..., None], axis=-1) for values in sums)
    return np.asarray(behind(own - sums.logits, size + sums.sizes, decided).any(axis=-1))


class View(ABC):
    """Instances whose outputs under other attention can be computed, in double precision."""

    weights: Ragged  # (N,) float64, each row normalised
    decided: Indices  # (n,)

    @property
    @abstractmethod
    def classes(self) -> int:
        """K, at least 2."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers decoding one distribution takes, besides one per item."""

    @abstractmethod
    def under(self, weights: Ragged) -> Sums:
        """Logits under other weights, (n, K)."""

    @abstractmethod
    def permuted(self, rows: Indices, orders: Indices) -> Sums:
        """Logits (B, P, K) of instances (B,) under permuted weights: item t has that of item `orders[..., t]`; orders
        are (B, P, T), T the length of the longest of these instances."""

    @abstractmethod
    def decode_single(self, items: Indices) -> Sums:
        """Logits (M, K) if each of these items (M,) had all the attention of its instance."""

    @property
    @abstractmethod
    def unattended(self) -> Sums:
        """Logits if nothing is attended to, (n, K)."""

    @abstractmethod
    def item_vectors(self, rows: Indices) -> Floats:
        """The vectors of items that attention averages, of instances (B,): (B, T, F), padded with zeros."""

    @abstractmethod
    def decode_sums(self, rows: Indices, mixed: Floats, mass: Floats) -> Sums:
        """Logits (B, M, K) of instances (B,) from weighted sums (B, M, F) of total weight (B, M), which are
        renormalised; where no weight is left, nothing is attended to."""

    @abstractmethod
    def effects(self, directions: Floats) -> Ragged:
        """Derivative of logits in directions (n, K) by the weight of each item: (N,)."""

    @property
    def logits(self) -> Floats:
        """Under the model's own attention, (n, K)."""
        return self.under(self.weights).logits

    @property
    def output(self) -> Floats:
        """Probabilities under the model's own attention, (n, K)."""
        return probabilities(self.logits)


def normalised(weights: Ragged) -> Ragged:
    """Weights in float64, rows normalised to one; a file may be off by 1e-4."""
    values = weights.like(weights.values.astype(np.float64))
    return values.like(values.values / values.sum()[values.row_of_value])


def shuffled(weights: Floats, orders: Indices) -> Floats:
    """Padded weights (B, T) in these orders, (B, P, T)."""
    rows, width = weights.shape
    cells = orders + width * np.arange(rows)[:, None, None]
    moved: Floats = weights.ravel().take(cells)
    return moved
