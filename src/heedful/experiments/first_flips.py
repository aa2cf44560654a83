"""At which step of a removal does the decision change?

Where the decoder is affine, only the signs of the margins that are left matter, and no logit needs to be known. Arrays
are (K, B, T) there, so that sums run along memory. A margin so near zero that rounding could have made it is left to
the rule for ties that everything follows.
"""

import numpy as np

from heedful.experiments.arrays import Flags, Indices
from heedful.experiments.margins import Margins
from heedful.experiments.removals import Left, each_item, in_order, without_first
from heedful.experiments.sums import TOLERANCE, Sums, flips
from heedful.experiments.view import View

_FIRST_STEPS = 16  # decoded at once before looking whether the decision has changed; then twice as many, and so on


class Steps:
    """Instances (B,) whose items are removed one after the other, in any order."""

    def __init__(self, view: View, rows: Indices) -> None:
        self._view, self._rows = view, rows
        self._margins = _Margins(view, rows) if isinstance(view, Margins) else None

    def first_flips(self, orders: Indices) -> Indices:
        """The first step that changes the decision, (B,), with items removed in orders (B, T); 0: none does."""
        if self._margins is None:
            return self._decoded(self._rows, orders)
        found, sure = self._margins.first_flips(orders)
        if not sure.all():
            found[~sure] = self._decoded(self._rows[~sure], orders[~sure])
        return found

    def _decoded(self, rows: Indices, orders: Indices) -> Indices:
        longest = int(self._view.weights.lengths[rows].max(initial=0))
        left = without_first(in_order(each_item(self._view, rows), orders[:, :longest]))
        return _first_of(self._view, rows, left)


class _Margins:
    """What each item adds to the margin of the decision over each rival, and in the decision's own place its weight."""

    def __init__(self, view: Margins, rows: Indices) -> None:
        weights, alone = view.by_class(rows)  # (B, T), (K, B, T)
        decided, each = view.decided[rows], np.arange(len(rows))
        self.terms = np.subtract(alone[decided, each], alone, order="C")
        self.terms *= weights
        self.terms[decided, each] = weights
        self.decided = decided
        self.nothing = flips(Sums(*(values[rows] for values in view.nothing)), decided)  # (B,)
        # no sum of sizes of what is left exceeds this times the weight that is left
        self.greatest = 2 * np.maximum(alone.max(axis=(0, 2)), -alone.min(axis=(0, 2)))

    def first_flips(self, orders: Indices) -> tuple[Indices, Flags]:
        """The first step after which some margin is negative, and whether it is beyond doubt, both (B,)."""
        batch, width = orders.shape
        cells = (orders[:, ::-1] + width * np.arange(batch)[:, None]).ravel()  # the last first: sums of what is left
        left = self.terms.reshape(len(self.terms), -1).take(cells, axis=1).reshape(-1, batch, width)
        np.cumsum(left, axis=2, out=left)
        mass = left[self.decided, np.arange(batch)]  # (B, T): T - t items are left at t - 1
        lost = left.min(axis=0) < 0
        near = np.abs(left, out=left).min(axis=0) <= TOLERANCE * self.greatest[:, None] * mass
        changed = np.where(mass > 0, lost, self.nothing[:, None])
        # steps 1 to T: what is left after each, nothing at last; step 0 is the model's own attention
        steps = np.concatenate([changed[:, -2::-1], self.nothing[:, None]], axis=1)
        sure = ~(near & (mass > 0))[:, :-1].any(axis=1) if width > 1 else np.ones(batch, dtype=bool)
        return np.where(steps.any(axis=1), steps.argmax(axis=1) + 1, 0), sure


def _first_of(view: View, rows: Indices, left: Left) -> Indices:
    """The first step that changes the decision, (B,), by decoding some steps at a time."""
    found = np.zeros(len(rows), dtype=np.int64)
    waiting, start, steps = np.arange(len(rows)), 1, _FIRST_STEPS
    while len(waiting) and start < left.mass.shape[1]:
        stop = start + steps
        sums = view.left(rows[waiting], left.mixed[waiting, start:stop], left.mass[waiting, start:stop])
        changed = flips(sums, np.broadcast_to(view.decided[rows[waiting], None], sums.logits.shape[:2]))
        some = changed.any(axis=1)
        found[waiting[some]] = start + changed[some].argmax(axis=1)
        waiting, start, steps = waiting[~some], stop, 2 * steps
    return found
