"""Evidence as experiments see it: the weights, the decisions, and what other weights would have given.

Most questions need no more than that, and are the same whatever the decoder. What has an exact answer only where the
decoder is affine asks for `Margins`.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from heedful.evidence import probabilities
from heedful.ragged import Flags, Floats, Indices, Ragged

TOLERANCE = 1e-12  # of the sum of absolute contributions: what rounding may make of a tie


class Sums(NamedTuple):
    """Sums of what speaks for each class, and of its absolute values, which rounding is measured against."""

    logits: Floats  # (..., K)
    sizes: Floats  # (..., K)

    @property
    def decided(self) -> Indices:
        """The decision, (...): the lowest class on ties."""
        return first_best(self.logits, self.sizes)


def first_best(logits: Floats, sizes: Floats) -> Indices:
    """Class after class, a later one wins if it beats the best so far by more than rounding: (...)."""
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
    """Which rivals margins (..., K) lose to, if `decided` (...) was decided: rivals of a lower index win ties."""
    rivals = np.arange(margins.shape[-1])
    tie = TOLERANCE * sizes
    lost = np.where(rivals < decided[..., None], margins <= tie, margins < -tie)
    return np.asarray(lost & (rivals != decided[..., None]))


def flips(sums: Sums, decided: Indices) -> Flags:
    """Whether logits (..., K) decide otherwise than `decided` (...)."""
    own, size = (np.take_along_axis(values, decided[..., None], axis=-1) for values in sums)
    return np.asarray(behind(own - sums.logits, size + sums.sizes, decided).any(axis=-1))


class View(ABC):
    """Instances whose outputs under other attention can be told, in double precision."""

    weights: Ragged  # (N,) float64, each row normalised
    decided: Indices  # (n,)

    @property
    @abstractmethod
    def classes(self) -> int:
        """K, at least 2."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers one distribution takes to decode, beside one an item."""

    @abstractmethod
    def under(self, weights: Ragged) -> Sums:
        """Logits under other weights, (n, K)."""

    @abstractmethod
    def permuted(self, rows: Indices, orders: Indices) -> Sums:
        """Logits (B, P, K) of instances (B,) under permuted weights: item t has that of item `orders[..., t]`.

        Orders are (B, P, T), T the length of the longest of these instances.
        """

    @abstractmethod
    def says(self, items: Indices) -> Sums:
        """Logits (M, K) if these of all items had all the attention of their instances."""

    @property
    @abstractmethod
    def nothing(self) -> Sums:
        """Logits where nothing is attended to, (n, K)."""

    @abstractmethod
    def mixes(self, rows: Indices) -> Floats:
        """What is summed up, weight by weight, of each item of instances (B,): (B, T, F), padded with zeros."""

    @abstractmethod
    def left(self, rows: Indices, mixed: Floats, mass: Floats) -> Sums:
        """Logits (B, M, K) of instances (B,) of which sums (B, M, F) of weight (B, M) are left: these are made to weigh
        one again; where no weight is left, nothing is attended to."""

    @abstractmethod
    def effects(self, directions: Floats) -> Ragged:
        """How fast logits move in directions (n, K) as the weight of each item grows, all others held: (N,)."""

    @property
    def logits(self) -> Floats:
        """Under the model's own attention, (n, K)."""
        return self.under(self.weights).logits

    @property
    def output(self) -> Floats:
        """Probabilities under the model's own attention, (n, K)."""
        return probabilities(self.logits)


def normalised(weights: Ragged) -> Ragged:
    """Weights in float64 whose rows sum to one as nearly as can be; a file may be off by 1e-4."""
    values = weights.like(weights.values.astype(np.float64))
    return values.like(values.values / values.sum()[values.row_of_value])


def shuffled(weights: Floats, orders: Indices) -> Floats:
    """Padded weights (B, T) in these orders, (B, P, T)."""
    rows, width = weights.shape
    cells = orders + width * np.arange(rows)[:, None, None]
    moved: Floats = weights.ravel().take(cells)
    return moved
