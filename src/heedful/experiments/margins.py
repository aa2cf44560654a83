"""What each item says alone, and by how much it argues for the decision: in float64, with one rule for ties.

Every exact experiment stands on this. A sigmoid model (K = 1) is the two-class model with scores [0, S] and bias
[0, b]. Because attention sums to one, the bias can be given to every item: any attention `a` has logits `a @ alone`.
Decisions take the lowest class on ties, and sums that differ by rounding alone are ties.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.ragged import Ragged

TOLERANCE = 1e-12  # of the sum of absolute contributions: what rounding may make of a tie

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Sums(NamedTuple):
    """Weighted sums of what the items say, and of its absolute values, which rounding is measured against."""

    logits: Floats  # (..., K)
    sizes: Floats  # (..., K)

    @property
    def decided(self) -> NDArray[np.int64]:
        """The decision, (...): the lowest class on ties."""
        return first_best(self.logits, self.sizes)


@dataclass(frozen=True, eq=False)
class Margins:
    """Instances as the exact experiments see them."""

    weights: Ragged  # (N,) float64, each row normalised
    alone: Ragged  # (N, K) float64, K >= 2: the logits if an item had all the attention
    decided: NDArray[np.int64]  # (n,)

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

    def under(self, weights: Ragged) -> Sums:
        """Logits under other weights, (n, K)."""
        return _under(weights, self.alone.values)

    @property
    def logits(self) -> Floats:
        """Under the model's own attention, (n, K)."""
        return self.under(self.weights).logits

    @property
    def odds(self) -> Ragged:
        """Two classes only: the log-odds of the second class if an item had all the attention, (N,)."""
        if self.classes != 2:
            raise ValueError(f"log-odds are of two classes, not of {self.classes}")
        return self.alone.like(self.alone.values[:, 1] - self.alone.values[:, 0])

    @property
    def items(self) -> Ragged:
        """By how much each item argues for the decided class against each class, (N, K)."""
        return self.alone.like(self._own()[:, None] - self.alone.values)

    @property
    def sizes(self) -> Ragged:
        """The absolute contributions that `items` is the difference of, (N, K): rounding is measured against them."""
        return self.alone.like(np.abs(self._own())[:, None] + np.abs(self.alone.values))

    def _own(self) -> Floats:
        """Each item's logit of the decided class, (N,)."""
        rows = self.alone.row_of_value
        own: Floats = self.alone.values[np.arange(len(rows)), self.decided[rows]]
        return own


def normalised(weights: Ragged) -> Ragged:
    """Weights in float64 whose rows sum to one as nearly as can be; a file may be off by 1e-4."""
    values = weights.like(weights.values.astype(np.float64))
    return values.like(values.values / values.sum()[values.row_of_value])


def decisions_of(evidence: Evidence) -> NDArray[np.int64]:
    """The decided classes (n,): one rule for all experiments, also for those that need no scores."""
    return evidence.decisions if evidence.scores is None else Margins.of(evidence).decided


def behind(margins: Floats, sizes: Floats, decided: NDArray[np.int64]) -> Flags:
    """Which rivals margins (..., K) lose to, if `decided` (...) was decided: rivals of a lower index win ties."""
    rivals = np.arange(margins.shape[-1])
    tie = TOLERANCE * sizes
    lost = np.where(rivals < decided[..., None], margins <= tie, margins < -tie)
    return np.asarray(lost & (rivals != decided[..., None]))


def _under(weights: Ragged, alone: Floats) -> Sums:
    terms = weights.values[:, None] * alone  # (N, K)
    return Sums(weights.like(terms).sum(), weights.like(np.abs(terms)).sum())


def first_best(logits: Floats, sizes: Floats) -> NDArray[np.int64]:
    """Class after class, a later one wins if it beats the best so far by more than rounding: (...)."""
    best = np.zeros(logits.shape[:-1], dtype=np.int64)
    top, size = logits[..., 0].copy(), sizes[..., 0].copy()
    for rival in range(1, logits.shape[-1]):
        wins = logits[..., rival] - top > TOLERANCE * (size + sizes[..., rival])
        best = np.where(wins, rival, best)
        top = np.where(wins, logits[..., rival], top)
        size = np.where(wins, sizes[..., rival], size)
    return best
