"""How many items must go before the decision changes? (Serrano & Smith 2019, section 5: sets of weights)

If attention ranks items by importance, few of the most attended should suffice. How few would suffice at best the paper
could not say; where the decoder is affine the smallest set is exact.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.special import entr

from heedful.evidence import Evidence
from heedful.experiments.arrays import Floats, Indices
from heedful.experiments.bounded import bounded
from heedful.experiments.counts import check_count
from heedful.experiments.first_flips import Steps
from heedful.experiments.flip_sets import smallest_flip_sets
from heedful.experiments.margins import Margins
from heedful.experiments.rankings import RANKINGS, Ranker, check_rankings
from heedful.experiments.removals import batches
from heedful.experiments.sums import flips
from heedful.experiments.view import View
from heedful.experiments.views import view_of
from heedful.nested import nested
from heedful.ragged import Ragged
from heedful.randomness import keys


@bounded
def removal(evidence: Evidence, *, rankings: Sequence[str] = RANKINGS, orders: int = 5, seed: int = 0) -> pl.DataFrame:
    """One row an instance: for each ranking the number of items removed when the decision first changes,
    `<ranking>_count`, as a share of all, `<ranking>_fraction`, and the attention on them, `<ranking>_mass`; null where
    it never changes. With `optimal` among the rankings, `<ranking>_excess` is how many more than necessary.

    `random` is the first of so many seeded `orders`; `random_counts` and `random_masses` are of all. `optimal` is the
    smallest set that changes the decision, its positions in `optimal_set`; null where the decoder is not affine.

    `items`, of the instance; `confidence`, the probability of the decision; `entropy`, of the output; `default`,
    whether the decision is the one with nothing attended to: only such a decision may never change.
    """
    names = check_rankings(rankings)
    check_count("orders", orders, least=1)
    view = view_of(evidence)
    output, lengths = view.output, view.weights.lengths
    columns: dict[str, object] = {
        "id": pl.Series(list(evidence.ids), dtype=pl.String),
        "decision": view.decided.astype(np.int32),
        "items": lengths.astype(np.int32),
        "confidence": output[np.arange(len(output)), view.decided],
        "entropy": entr(output).sum(axis=1),
        "default": ~flips(view.nothing, view.decided),
    }
    rankers = {name: Ranker(view, name, keys(evidence.ids), seed) for name in names if name != "optimal"}
    for name, (counts, masses) in _first_flips(view, rankers, orders).items():
        columns |= figures(name, counts[:, 0], masses[:, 0], lengths)
        if name == "random":
            columns |= {"random_counts": lists(counts, pl.Int32), "random_masses": lists(masses, pl.Float64)}
    if "optimal" in names:
        columns |= _optimal(view)
    frame = pl.DataFrame(columns)
    if "optimal" not in names:
        return frame
    least, ordered = pl.col("optimal_count"), [name for name in names if name != "optimal"]
    return frame.with_columns((pl.col(f"{name}_count") - least).alias(f"{name}_excess") for name in ordered)


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
    if isinstance(view, Margins):
        for rows in batches(view):
            sets = smallest_flip_sets(view, rows)
            mask = np.arange(sets.chosen.shape[1]) < view.weights.lengths[rows, None]
            chosen.values[chosen.cells(rows)] = sets.chosen[mask]
            counts[rows] = np.where(sets.counts > 0, sets.counts, np.nan)
    removed = chosen.like(np.where(chosen.values, view.weights.values, 0.0)).sum()
    masses = np.where(np.isnan(counts), np.nan, removed)
    return figures("optimal", counts, masses, view.weights.lengths) | {"optimal_set": _positions(chosen)}


def figures(name: str, counts: Floats, masses: Floats, lengths: Indices) -> dict[str, object]:
    """The columns of one ranking: items removed at the first flip (n,), their share and mass; null for NaN."""
    return {
        f"{name}_count": pl.Series(counts).fill_nan(None).cast(pl.Int32),
        f"{name}_fraction": pl.Series(counts / lengths).fill_nan(None),
        f"{name}_mass": pl.Series(masses).fill_nan(None),
    }


def _positions(chosen: Ragged) -> pl.Series:
    """Where in their instances the chosen items stand; null where none is."""
    cells = np.flatnonzero(chosen.values)
    rows = chosen.row_of_value[cells]
    positions = Ragged.from_lengths((cells - chosen.offsets[rows]).astype(np.int32), chosen.sum())
    lists = nested(positions)
    return pl.select(pl.when(lists.list.len() > 0).then(lists)).to_series()


def lists(values: Floats, kind: type[pl.DataType]) -> pl.Series:
    """Equally long lists (n, R), null for NaN."""
    flat = pl.Series(values.ravel()).fill_nan(None).cast(kind)
    return flat.reshape(values.shape).arr.to_list()
