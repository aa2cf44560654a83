"""Would the same weights in another order have changed the output? (Jain & Wallace 2019, section 4.2.1)

The states stay, the weights are shuffled. With an affine decoder a permutation costs one product of T weights with T
scores, and the extremes over all T! orders are exact: by the rearrangement inequality they pair sorted weights with
sorted scores.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit

from heedful.evidence import Evidence, probabilities
from heedful.experiments.affine_view import AffineView
from heedful.experiments.experiment import Experiment, Headline, bounded, check_count, instance_frame
from heedful.experiments.view import behind
from heedful.experiments.views import view_of
from heedful.measures import tvd
from heedful.ragged import Flags, Floats, Indices, Ragged, length_batches
from heedful.randomness import Stream, keys

_CELLS = 1 << 18  # drawn positions at a time: few enough for a processor's cache
EXACT = {"can_change": pl.Boolean, "lowest": pl.Float64, "highest": pl.Float64, "worst": pl.Float64}


@bounded
def permutation(evidence: Evidence, *, permutations: int = 100, seed: int = 0) -> pl.DataFrame:
    """One row an instance, over `permutations` random orders of the weights: `tvds`, the sorted TVDs from the model's
    own output; their `median`; `changed`, the share that changed the decision; and `max_attention`, the largest weight.

    Over all orders, exactly: `can_change`, whether any changes the decision, and for two classes the `lowest` and
    `highest` probability of the second class and the largest TVD, `worst`. Null where the decoder is not affine.
    """
    check_count("permutations", permutations, least=1)
    view = view_of(evidence)
    tvds, changed = np.empty((len(evidence), permutations)), np.empty(len(evidence))
    output = view.output  # (n, K)
    stream, names = Stream(seed, "permutation"), keys(evidence.ids)
    lengths, cells = evidence.weights.lengths, _CELLS // permutations
    batches = length_batches(lengths, rows=max(1, cells // view.width), cells=max(1, cells))
    for rows in batches:
        orders = stream.orders(lengths[rows, None], names[rows, None], np.arange(permutations))  # (B, P, T)
        sums = view.permuted(rows, orders)
        tvds[rows] = np.sort(tvd(probabilities(sums.logits), output[rows, None]), axis=1)
        changed[rows] = (sums.decided != view.decided[rows, None]).mean(axis=1)
    exact = _over_all_orders(view, output, batches) if isinstance(view, AffineView) else {}
    return shuffled_frame(evidence.ids, view.decided, view.weights, tvds, changed, **exact)


def shuffled_frame(
    ids: Sequence[str], decided: Indices, weights: Ragged, tvds: Floats, changed: Floats, **exact: Any
) -> pl.DataFrame:
    """The frame of sorted TVDs (n, P), shares of changed decisions (n,) and columns about all orders (none: null)."""
    every = exact or {name: pl.Series([None] * len(ids), dtype=kind) for name, kind in EXACT.items()}
    sampled = {"max_attention": weights.max(), "median": np.median(tvds, axis=1), "changed": changed}
    return instance_frame(ids, decided, **sampled, **every, tvds=pl.Series(tvds).cast(pl.List(pl.Float64)))


PERMUTATION = Experiment(
    name="permutation",
    function=permutation,
    question="Would the same weights in another order have changed the output?",
    headline=Headline(
        pl.col("median"), "Shuffling the weights moves the output by {:.3f} (total variation distance, 0 to 1)"
    ),
    options=lambda settings: {"permutations": settings.options.permutations},
    random=True,
    exact="sampled, and exact extremes over all orders",
)


def _over_all_orders(view: AffineView, output: Floats, batches: list[Indices]) -> dict[str, Any]:
    """The exact columns, computed in batches of instances of similar length."""
    can_change = np.empty(len(view.weights), dtype=bool)
    odds = np.full((len(view.weights), 2), np.nan)
    for rows in batches:
        weights, _ = view.weights.take(rows).pad()  # (B, T)
        alone, mask = view.alone.take(rows).pad()  # (B, T, K)
        can_change[rows] = _can_change(weights, alone, mask, view.decided[rows])
        if view.classes == 2:
            odds[rows] = _extremes(weights, alone[..., 1] - alone[..., 0], mask)
    lowest, highest = expit(odds).T
    second = output[:, -1]
    extremes = {"lowest": lowest, "highest": highest, "worst": np.maximum(highest - second, second - lowest).clip(0)}
    return {"can_change": can_change} | {name: pl.Series(values).fill_nan(None) for name, values in extremes.items()}


def _can_change(weights: Floats, alone: Floats, mask: Flags, decided: Indices) -> Flags:
    """Whether some order of the weights loses to a rival: the heaviest go to the items that argue least, (B,)."""
    falling = -np.sort(-weights, axis=1)  # (B, T), padding last
    own = np.take_along_axis(alone, decided[:, None, None], axis=2)  # (B, T, 1)
    margins, sizes = own - alone, np.abs(own) + np.abs(alone)  # (B, T, K)
    order = np.where(mask[..., None], margins, np.inf).argsort(axis=1)
    margins, sizes = (np.take_along_axis(values, order, axis=1) for values in (margins, sizes))
    least, size = ((falling[..., None] * values).sum(axis=1) for values in (margins, sizes))  # (B, K)
    return np.asarray(behind(least, size, decided).any(axis=1))


def _extremes(weights: Floats, odds: Floats, mask: Flags) -> Floats:
    """The least and the greatest log-odds of any order, (B, 2)."""
    falling = -np.sort(-weights, axis=1)
    sums = []
    for sign in (1.0, -1.0):
        rising = np.sort(np.where(mask, sign * odds, np.inf), axis=1)
        sums.append(sign * (falling * np.where(mask, rising, 0.0)).sum(axis=1))
    return np.stack(sums, axis=1)
