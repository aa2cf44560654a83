"""Instances that are read again with some of their items erased, whoever reads them."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heedful.evidence import chance, decide
from heedful.experiments.curves import SHARES, first_items
from heedful.ragged import Indices, Ragged

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Outputs = NDArray[np.floating[Any]]

ROUND = 8  # readings of each text between two looks at what has flipped
WORDS = 1 << 20  # words of erased texts at a time: bounds memory


class Erasable(Protocol):
    """Instances whose items can be erased."""

    @property
    def items(self) -> Ragged:
        """One value for each item."""

    @property
    def words(self) -> Indices:
        """How much there is to read of each instance, (n,)."""

    @property
    def output(self) -> Outputs:
        """What the model says of them, (n, K)."""

    def erased(self, rows: Indices, gone: Flags, way: str) -> Outputs:
        """What it says of instances (M,) without the flagged ones of their items, all of these in one row: (M, K)."""


class Race:
    """The instances, what the model says of them, and what it says of what is left.

    `places` (N,) are the items' places in the order of erasing; `way` is one that the instances know.
    """

    def __init__(self, instances: Erasable, steps: int) -> None:
        self.instances = instances
        output = instances.output
        self.outputs = output.shape[1]
        self.decided = decide(output)
        self.whole = chance(output, self.decided)
        self.lengths = instances.items.lengths
        self.step = -(-self.lengths // steps)

    def first_flips(self, places: Ragged, way: str) -> Indices:
        """How many items are erased at the first flip, (n,); 0: it never flips."""
        lengths = self.lengths
        counts = np.zeros(len(lengths), dtype=np.int64)
        active, first = np.flatnonzero(lengths), 1
        while len(active):
            rows = np.repeat(active, ROUND)
            erased = np.minimum(np.tile(np.arange(first, first + ROUND), len(active)) * self.step[rows], lengths[rows])
            flips = decide(self._read(rows, erased, places, way)) != self.decided[rows]
            flips, erased = flips.reshape(-1, ROUND), erased.reshape(-1, ROUND)
            some = flips.any(axis=1)
            counts[active[some]] = erased[some, flips[some].argmax(axis=1)]
            over = erased[:, -1] == lengths[active]
            active, first = active[~some & ~over], first + ROUND
        return counts

    def shares(self, places: Ragged, way: str) -> tuple[Floats, Floats]:
        """Mean falls of the decided class's probability without the first items, and with these alone, (n,)."""
        without, alone = self.falls(places, way, np.array(SHARES))
        return without.mean(axis=1), alone.mean(axis=1)

    def falls(self, places: Ragged, way: str, shares: Floats) -> tuple[Floats, Floats]:
        """The same at each of the shares (P,) of all items, (n, P)."""
        rows = np.repeat(np.arange(len(self.decided)), len(shares))
        lengths = self.lengths[rows]
        first = np.minimum(first_items(self.lengths, shares).ravel(), lengths)
        falls = []
        for last in (False, True):
            output = self._read(rows, lengths - first if last else first, places, way, last=last)
            fall = self.whole[rows] - chance(output, self.decided[rows])
            falls.append(fall.reshape(-1, len(shares)))
        return falls[0], falls[1]

    def _read(self, rows: Indices, erased: Indices, places: Ragged, way: str, *, last: bool = False) -> Outputs:
        """Outputs (M, K) of instances (M,) with so many items erased (M,): the first ones, or the last ones.

        Short texts ask for the same more than once, and are read once.
        """
        several = int(self.lengths.max(initial=0)) + 1
        different, where = np.unique(rows * several + erased, return_inverse=True)
        rows, erased = different // several, different % several
        output = np.empty((len(rows), self.outputs))
        ends = np.cumsum(self.instances.words[rows]) // WORDS
        for some in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(ends)) + 1):
            order = places.take(rows[some])
            row, count = order.row_of_value, erased[some]
            gone = order.values >= (order.lengths - count)[row] if last else order.values < count[row]
            output[some] = self.instances.erased(rows[some], gone, way)
        return output[where]
