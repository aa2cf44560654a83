"""Instances that are read again with some of their items erased."""

import numpy as np
from numpy.typing import NDArray

from heedful.evidence import chance, decide
from heedful.experiments.curves import SHARES, first_items
from heedful.importance.deletion_plain import nothing_left
from heedful.models.classifier import Classifier
from heedful.models.inference import predict
from heedful.models.inputs import Inputs
from heedful.ragged import Indices, Ragged

Floats = NDArray[np.float64]

ROUND = 8  # readings of each text between two looks at what has flipped
WORDS = 1 << 20  # words of erased texts at a time: bounds memory


class Race:
    """The instances, what the model says of them, and what it says of what is left.

    `places` (N,) are the items' places in the order of erasing; `way` is "delete" or "unknown".
    """

    def __init__(self, model: Classifier, inputs: Inputs, steps: int) -> None:
        self.model, self.inputs = model, inputs
        output = predict(model, inputs)
        self.decided = decide(output)
        self.whole = chance(output, self.decided)
        self.nothing = nothing_left(model, inputs)  # (n, K)
        self.step = -(-inputs.items.lengths // steps)

    def first_flips(self, places: Ragged, way: str) -> Indices:
        """How many items are erased at the first flip, (n,); 0: it never flips."""
        lengths = self.inputs.items.lengths
        counts = np.zeros(len(lengths), dtype=np.int64)
        active, first = np.arange(len(lengths)), 1
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
        rows = np.repeat(np.arange(len(self.decided)), len(SHARES))
        lengths = self.inputs.items.lengths[rows]
        first = first_items(self.inputs.items.lengths, np.array(SHARES)).ravel()
        falls = []
        for last in (False, True):
            output = self._read(rows, lengths - first if last else first, places, way, last=last)
            fall = self.whole[rows] - chance(output, self.decided[rows])
            falls.append(fall.reshape(-1, len(SHARES)).mean(axis=1))
        return falls[0], falls[1]

    def _read(
        self, rows: Indices, erased: Indices, places: Ragged, way: str, *, last: bool = False
    ) -> NDArray[np.float32]:
        """Outputs (M, K) of instances (M,) with so many items erased (M,): the first ones, or the last ones."""
        output = np.empty((len(rows), self.nothing.shape[1]), dtype=np.float32)
        ends = np.cumsum(self.inputs.tokens.lengths[rows]) // WORDS
        for some in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(ends)) + 1):
            output[some] = self._outputs(rows[some], erased[some], places, way, last)
        return output

    def _outputs(self, rows: Indices, erased: Indices, places: Ragged, way: str, last: bool) -> NDArray[np.float32]:
        texts, order = self.inputs.take(rows), places.take(rows)
        row = order.row_of_value
        gone = order.values >= (order.lengths - erased)[row] if last else order.values < erased[row]
        if way == "unknown":
            return predict(self.model, texts.unknown(gone))
        left = np.flatnonzero(erased < order.lengths)
        output = self.nothing[rows]
        if len(left):
            output[left] = predict(self.model, texts.keep(~gone).take(left))
        return output
