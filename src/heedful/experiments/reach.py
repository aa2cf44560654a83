"""Could any attention weights change the decision? And how far could they move each probability?

Whether the decision can change is exact: some item alone must decide otherwise. So are the ranges for two classes. For
more, maximising log p_k = z_k - logsumexp(z) over the convex hull of the items' logits is a convex program. Pairwise
Frank-Wolfe (Lacoste-Julien & Jaggi 2015) solves it without projections: each step moves weight from the item that holds
the class back most to the item that helps it most, by an exact line search. Its duality gap bounds what is left.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import log_softmax, softmax

from heedful.evidence import Evidence, probabilities
from heedful.experiments.affine_view import AffineView
from heedful.experiments.experiment import Experiment, Headline, bounded, check_count, instance_frame
from heedful.experiments.view import first_best
from heedful.ragged import Floats, Ragged, length_batches

_CELLS = 1 << 19  # padded cells at a time
_GAP = 1e-9  # of a logarithm: small enough to stop
_BISECTIONS = 40


@bounded
def reach(evidence: Evidence, *, iterations: int = 200) -> pl.DataFrame:
    """One row an instance: `can_change`, whether some attention distribution changes the decision (exact for any number
    of classes; if not, attention is provably irrelevant to it), and the range of each output over all distributions,
    `lowest` and `highest`, lists of K like `output`. `gap`: by how much the largest probability may exceed `highest` at
    most; 0 for two classes, otherwise what the solver's duality gap leaves open after `iterations`."""
    check_count("iterations", iterations, least=0)
    view = AffineView.of(evidence)
    classes = first_best(view.alone.values, np.abs(view.alone.values))  # (N,): what each item alone decides
    can_change = view.alone.like(classes != view.decided[view.alone.row_of_value]).sum() > 0
    alone = view.alone.like(probabilities(view.alone.values))  # (N, K)
    lowest, highest = -alone.like(-alone.values).max(), alone.max()  # (n, K)
    gap = np.zeros(len(evidence))
    if view.classes > 2:
        highest, gap = largest_probability(view.alone, iterations=iterations)
    ranges = {"lowest": _like_output(lowest, evidence), "highest": _like_output(highest, evidence)}
    return instance_frame(evidence.ids, view.decided, can_change=can_change, **ranges, gap=gap)


REACH = Experiment(
    name="reach",
    function=reach,
    question="Could any attention weights change the decision?",
    headline=Headline(
        ~pl.col("can_change"),
        "No attention weights could change the decision in {:.1%} of texts; there a heat-map explains nothing",
    ),
    needs=("affine decoder",),
    exact="yes; for more than two classes the ranges of outputs come with their gap",
)


def _like_output(values: Floats, evidence: Evidence) -> pl.Series:
    """A sigmoid model has one output, the second class's probability."""
    return pl.Series(values[:, -evidence.outputs :]).cast(pl.List(pl.Float64))


class Largest(NamedTuple):
    """Greatest probabilities, and their error."""

    highest: Floats  # (n, K), attained
    gap: Floats  # (n,): how much greater the true maximum may be


def largest_probability(alone: Ragged, *, iterations: int) -> Largest:
    """Solve the program for every instance and class; `alone` is (N, K), the logits of each item."""
    classes = alone.values.shape[1]
    highest = np.empty((len(alone), classes))
    gap = np.zeros(len(alone))
    for rows in length_batches(alone.lengths, rows=len(alone) + 1, cells=_CELLS // classes):
        logits, mask = alone.take(rows).pad()  # (B, T, K), (B, T)
        for k in range(classes):
            found, open_ = _maximise(logits, mask, k, iterations)
            highest[rows, k] = found
            gap[rows] = np.maximum(gap[rows], open_)
    return Largest(highest, gap)


def _maximise(logits: Floats, mask: np.ndarray, k: int, iterations: int) -> tuple[Floats, Floats]:
    """The greatest p_k of each row (B,), and by how much it may be greater."""
    everyone = np.arange(len(logits))
    best = np.where(mask, log_softmax(logits, axis=2)[..., k], -np.inf).argmax(axis=1)
    weights = np.zeros(mask.shape)
    weights[everyone, best] = 1.0
    value, gap = np.empty(len(logits)), np.empty(len(logits))
    running = everyone
    for iteration in range(iterations + 1):
        table, at = logits[running], weights[running]
        z = (at[:, None] @ table).squeeze(1)  # (b, K)
        slope = -softmax(z, axis=1)
        slope[:, k] += 1.0  # of log p_k by z
        gain = np.where(mask[running], (table @ slope[..., None]).squeeze(2), -np.inf)  # (b, T)
        held = np.where(at > 0, gain, np.inf)
        to, away = gain.argmax(axis=1), held.argmin(axis=1)
        mine = np.arange(len(running))
        value[running] = log_softmax(z, axis=1)[:, k]
        gap[running] = np.maximum(gain[mine, to] - (z * slope).sum(axis=1), 0.0)
        going = gap[running] > _GAP
        if iteration == iterations or not going.any():
            break
        step = _line_search(z, table[mine, to] - table[mine, away], at[mine, away], k)
        weights[running, to] += step
        left = weights[running, away] - step
        weights[running, away] = np.where(left > 1e-15, left, 0.0)
        running = running[going]
    found = np.exp(value)
    return found, np.exp(np.minimum(value + gap, 0.0)) - found


def _line_search(z: Floats, direction: Floats, limit: Floats, k: int) -> Floats:
    """How far to go on the line z + s * direction, at most to `limit`, for the greatest log p_k: bisects its slope."""
    low, high = np.zeros(len(z)), limit.copy()
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        p = softmax(z + middle[:, None] * direction, axis=1)
        rising = direction[:, k] - (p * direction).sum(axis=1) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return np.where(low + (limit - low) * 1e-9 >= limit, limit, low)
