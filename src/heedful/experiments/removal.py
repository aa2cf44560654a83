"""How many weights must be zeroed before the decision flips? (Serrano & Smith 2019, section 5: sets of weights)

If attention ranks items by importance, few of the top-attended should suffice. With an affine decoder the smallest set
that flips the decision is found exactly, which the paper could not do.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import entr

from heedful.evidence import Evidence
from heedful.experiments.affine_view import AffineView
from heedful.experiments.experiment import Experiment, Headline, bounded, check_count, instance_frame, share_removed
from heedful.experiments.rankings import (
    RANKINGS,
    Ranker,
    WeightedSums,
    batches,
    check_rankings,
    each_item,
    in_order,
    without_first,
)
from heedful.experiments.view import TOLERANCE, Sums, View, behind, flips
from heedful.experiments.views import view_of
from heedful.list_columns import list_column
from heedful.ragged import Flags, Floats, Indices, Ragged
from heedful.randomness import keys

_FIRST_STEPS = 16  # decoded at once before looking whether the decision has changed; then twice as many, and so on
_NEVER = np.iinfo(np.int64).max


@bounded
def removal(evidence: Evidence, *, rankings: Sequence[str] = RANKINGS, orders: int = 5, seed: int = 0) -> pl.DataFrame:
    """One row an instance: for each ranking the number of items removed when the decision first changes,
    `<ranking>_count`, as a share of all, `<ranking>_fraction`, and the attention on them, `<ranking>_mass`; null where
    it never changes. With `optimal` among the rankings, `<ranking>_excess` is how many more than necessary.

    `random` is the first of several seeded `orders`; `random_counts` and `random_masses` are of all. `optimal` is the
    smallest set that changes the decision, its positions in `optimal_set`; null where the decoder is not affine.
    `default`: whether the decision is the one with nothing attended to; only such a decision may never change.
    """
    names = check_rankings(rankings)
    check_count("orders", orders, least=1)
    view = view_of(evidence)
    output, lengths = view.output, view.weights.lengths
    columns: dict[str, object] = {
        "items": lengths.astype(np.int32),
        "confidence": output[np.arange(len(output)), view.decided],
        "entropy": entr(output).sum(axis=1),
        "default": ~flips(view.unattended, view.decided),
    }
    rankers = {name: Ranker(view, name, keys(evidence.ids), seed) for name in names if name != "optimal"}
    for name, (counts, masses) in _first_flips(view, rankers, orders).items():
        columns |= figures(name, counts[:, 0], masses[:, 0], lengths)
        if name == "random":
            columns |= {"random_counts": lists(counts, pl.Int32), "random_masses": lists(masses, pl.Float64)}
    if "optimal" in names:
        columns |= _optimal(view)
    frame = instance_frame(evidence.ids, view.decided, **columns)
    if "optimal" not in names:
        return frame
    least, ordered = pl.col("optimal_count"), [name for name in names if name != "optimal"]
    return frame.with_columns((pl.col(f"{name}_count") - least).alias(f"{name}_excess") for name in ordered)


REMOVAL = Experiment(
    name="removal",
    function=removal,
    question="How many weights must be zeroed before the decision flips, and how few would do?",
    headline=Headline(
        share_removed("attention_fraction"),
        "Zeroing attention from the top flips the decision after {:.1%} of the {item}s (never: all)",
    ),
    options=lambda settings: {"rankings": settings.options.rankings, "orders": settings.options.orders},
    random=True,
    exact="yes, the smallest set included",
)


def figures(name: str, counts: Floats, masses: Floats, lengths: Indices) -> dict[str, object]:
    """The columns of one ranking: items removed at the first flip (n,), their share and mass; null for NaN."""
    return {
        f"{name}_count": pl.Series(counts).fill_nan(None).cast(pl.Int32),
        f"{name}_fraction": pl.Series(counts / lengths).fill_nan(None),
        f"{name}_mass": pl.Series(masses).fill_nan(None),
    }


def lists(values: Floats, kind: type[pl.DataType]) -> pl.Series:
    """Equally long lists (n, R), null for NaN."""
    flat = pl.Series(values.ravel()).fill_nan(None).cast(kind)
    return flat.reshape(values.shape).arr.to_list()


def _first_flips(view: View, rankers: dict[str, Ranker], orders: int) -> dict[str, tuple[Floats, Floats]]:
    """For each ranking the items removed at the first flip and their mass, (n, R) each; NaN where no step flips."""
    found = {
        name: (np.full((len(view.weights), draws), np.nan), np.full((len(view.weights), draws), np.nan))
        for name, draws in ((name, orders if name == "random" else 1) for name in rankers)
    }
    for rows in batches(view) if rankers else []:
        steps, (weights, _) = Steps(view, rows), view.weights.take(rows).pad()
        for name, (counts, masses) in found.items():
            for draw in range(counts.shape[1]):
                order = rankers[name].orders(rows, draw)
                count = steps.first_flips(order)  # (B,)
                removed = np.arange(weights.shape[1]) < count[:, None]
                mass = np.where(removed, np.take_along_axis(weights, order, axis=1), 0.0).sum(axis=1)
                counts[rows, draw] = np.where(count > 0, count, np.nan)
                masses[rows, draw] = np.where(count > 0, mass, np.nan)
    return found


def _optimal(view: View) -> dict[str, object]:
    counts = np.full(len(view.weights), np.nan)
    chosen = view.weights.like(np.zeros(len(view.weights.values), dtype=bool))
    if isinstance(view, AffineView):
        for rows in batches(view):
            sets = smallest_flip_sets(view, rows)
            mask = np.arange(sets.chosen.shape[1]) < view.weights.lengths[rows, None]
            chosen.values[chosen.cells(rows)] = sets.chosen[mask]
            counts[rows] = np.where(sets.counts > 0, sets.counts, np.nan)
    removed = chosen.like(np.where(chosen.values, view.weights.values, 0.0)).sum()
    masses = np.where(np.isnan(counts), np.nan, removed)
    return figures("optimal", counts, masses, view.weights.lengths) | {"optimal_set": _positions(chosen)}


def _positions(chosen: Ragged) -> pl.Series:
    """Where in their instances the chosen items stand; null where none is."""
    cells = np.flatnonzero(chosen.values)
    rows = chosen.row_of_value[cells]
    positions = Ragged.from_lengths((cells - chosen.offsets[rows]).astype(np.int32), chosen.sum())
    lists = list_column(positions)
    return pl.select(pl.when(lists.list.len() > 0).then(lists)).to_series()


class FlipSets(NamedTuple):
    """The smallest sets of instances (B,); of several, that which the rival of the lowest index gains from."""

    counts: Indices  # (B,); 0: the decision never changes
    chosen: Flags  # (B, T)


def smallest_flip_sets(view: AffineView, rows: Indices) -> FlipSets:
    """Exact for an affine decoder and any number of classes, in O(K T log T)."""
    weights, mask = view.weights.take(rows).pad()  # (B, T)
    alone, _ = view.alone.take(rows).pad()  # (B, T, K)
    decided = view.decided[rows]
    own = np.take_along_axis(alone, decided[:, None, None], axis=2)  # (B, T, 1)
    margins = weights[..., None] * (own - alone)
    sizes = weights[..., None] * (np.abs(own) + np.abs(alone))  # (B, T, K)
    orders = _falling(margins, sizes, mask, decided)
    counts = _steps(weights, margins, sizes, orders, decided)  # (B, K)
    each, rival = np.arange(len(rows)), counts.argmin(axis=1)
    least = counts[each, rival]
    count = np.where(least < _NEVER, least, 0)
    chosen = np.zeros(mask.shape, dtype=bool)
    np.put_along_axis(chosen, orders[each, :, rival], np.arange(mask.shape[1]) < count[:, None], axis=1)
    weighty = weights > 0
    everything = flips(Sums(*(values[rows] for values in view.unattended)), decided) & (weighty.sum(axis=1) < least)
    return FlipSets(np.where(everything, weighty.sum(axis=1), count), np.where(everything[:, None], weighty, chosen))


def _falling(margins: Floats, sizes: Floats, mask: Flags, decided: Indices) -> Indices:
    """Items by what they contribute to the margin over each rival, (B, T, K).

    A rival wins once the sum is beyond its tolerance, a share of the sum of sizes. With that share given to each item,
    the sum is compared with zero, and removing the largest first is optimal, also to the last digit.
    """
    sign = np.where(np.arange(margins.shape[-1]) < decided[:, None], -1.0, 1.0)[:, None]  # (B, 1, K)
    corrected = margins + sign * TOLERANCE * sizes
    return np.where(mask[..., None], -corrected, np.inf).argsort(axis=1, kind="stable")


def _steps(weights: Floats, margins: Floats, sizes: Floats, orders: Indices, decided: Indices) -> Indices:
    """After how many removals in its order each rival wins with some weight left, (B, K)."""

    def left(values: Floats) -> Floats:
        """What is left after 0, ..., T - 1 removals, (B, T, K)."""
        ordered = np.take_along_axis(values, orders, axis=1)
        return np.asarray(ordered[:, ::-1].cumsum(axis=1)[:, ::-1])

    mass = left(np.broadcast_to(weights[..., None], margins.shape))
    won = behind(left(margins), left(sizes), np.broadcast_to(decided[:, None], weights.shape)) & (mass > 0)
    won[:, 0] = False  # nothing is removed yet
    return np.asarray(np.where(won.any(axis=1), won.argmax(axis=1), _NEVER))


class Steps:
    """Instances (B,) whose items are removed one after the other, in any order."""

    def __init__(self, view: View, rows: Indices) -> None:
        self._view, self._rows = view, rows
        self._margins = _Margins(view, rows) if isinstance(view, AffineView) else None

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
    """Each item's contribution to the margin over each rival; in the decision's own row, its weight."""

    def __init__(self, view: AffineView, rows: Indices) -> None:
        weights, alone = view.by_class(rows)  # (B, T), (K, B, T)
        decided, each = view.decided[rows], np.arange(len(rows))
        self.terms = np.subtract(alone[decided, each], alone, order="C")
        self.terms *= weights
        self.terms[decided, each] = weights
        self.decided = decided
        self.nothing = flips(Sums(*(values[rows] for values in view.unattended)), decided)  # (B,)
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


def _first_of(view: View, rows: Indices, left: WeightedSums) -> Indices:
    """The first step that changes the decision, (B,): decodes a few steps at a time."""
    found = np.zeros(len(rows), dtype=np.int64)
    waiting, start, steps = np.arange(len(rows)), 1, _FIRST_STEPS
    while len(waiting) and start < left.mass.shape[1]:
        stop = start + steps
        sums = view.decode_sums(rows[waiting], left.mixed[waiting, start:stop], left.mass[waiting, start:stop])
        changed = flips(sums, np.broadcast_to(view.decided[rows[waiting], None], sums.logits.shape[:2]))
        some = changed.any(axis=1)
        found[waiting[some]] = start + changed[some].argmax(axis=1)
        waiting, start, steps = waiting[~some], stop, 2 * steps
    return found
