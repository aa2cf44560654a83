"""Logits with what rounding is measured against, and the one rule for ties that every experiment follows.

Decisions take the lowest class on ties, and logits that differ by rounding alone are ties. A class that cannot be
decided for has the logit minus infinity.
"""

from typing import NamedTuple

import numpy as np

from heedful.experiments.arrays import Flags, Floats, Indices

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
