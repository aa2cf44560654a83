"""Two classes: the attention farthest from the model's own whose output moves by at most epsilon, exactly.

Distributions `a` with low <= a @ odds <= high are a simplex cut by a slab, and the Jensen-Shannon divergence is convex,
so a maximum sits on a vertex: one item within the bounds, or two items i, j on either side of a bound that meet it,
share * odds_i + (1 - share) * odds_j = bound.

Few of the T^2 pairs can be best. For fixed weights the divergence (HALF + phi(share, w_i) + phi(1 - share, w_j)) is
convex in the share, so it rises when the share moves away from its minimum, and it always rises when w_i or w_j falls.
The share of i grows as i comes nearer the bound and as j goes farther from it. Hence a pair to the right of the minimum
is matched or beaten after i is replaced by an item nearer the bound and not heavier, or j by one farther and not
heavier; to the left of it, the other way round. Repeating this ends at a pair of (near below, far above) or of (far
below, near above), where an item is "near" if no item on its side is both nearer and as light, and "far" if none is
both farther and as light. Of n items in random order about log n are one or the other.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from heedful.evidence import probabilities
from heedful.experiments.adversaries.divergence import HALF, SLACK, Found, phi
from heedful.experiments.affine_view import AffineView
from heedful.experiments.view import View
from heedful.measures import tvd
from heedful.ragged import Flags, Floats, Indices, Ragged, length_batches

CELLS = 1 << 18  # of a padded batch
PAIRS = 1 << 18  # looked at together
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of the largest score, in sums of a few terms


def two_classes(view: AffineView, epsilon: float) -> Found:
    """The global optimum: |sigmoid(a @ odds) - y| <= epsilon is a slab of log-odds (see above). Scores of 1e7 and more
    have too few digits to meet its bounds; what misses them aims a little inside."""
    output = view.output  # (n, 2)
    low, high = slab(output[:, 1], output[:, 0], epsilon)
    vertices = best_vertices(view.weights, view.odds, low, high)
    found = Found(vertices.weights(view.weights), vertices.divergence)
    missed = moved(view, found.weights) > epsilon + SLACK  # (n,)
    if not missed.any():
        return found
    rounding = ROUNDING * view.alone.like(np.abs(view.alone.values).max(axis=1)).max()
    inside = np.where(missed, np.minimum(rounding, (high - low) / 4), 0.0)
    nearer = best_vertices(view.weights, view.odds, low + inside, high - inside)
    return found._replace(weights=nearer.weights(view.weights))


def slab(chosen: Floats, other: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The log-odds log(chosen / other) that two classes' probabilities can have after moving by at most epsilon. A
    probability of at most epsilon can vanish, and the log-odds then have no bound."""
    with np.errstate(divide="ignore"):
        low = np.log(np.maximum(chosen - epsilon, 0.0)) - np.log(other + epsilon)
        high = np.log(chosen + epsilon) - np.log(np.maximum(other - epsilon, 0.0))
    return low, high


def moved(view: View, weights: Ragged) -> Floats:
    """How far other attention moves the output, (n,): total variation distance."""
    return tvd(view.output, probabilities(view.under(weights).logits))


class Vertices(NamedTuple):
    """Distributions on one item or two, one a row."""

    first: Indices  # (n,) position in the row
    second: Indices  # (n,) the same position where there is one item
    share: Floats  # (n,) the weight of the first
    divergence: Floats  # (n,) from the row's own weights; -inf where nothing lies within the bounds

    def weights(self, like: Ragged) -> Ragged:
        """As distributions over all items."""
        values = np.zeros(len(like.values))
        values[like.offsets[:-1] + self.first] = self.share
        values[like.offsets[:-1] + self.second] += 1 - self.share
        return like.like(values)


def best_vertices(weights: Ragged, odds: Ragged, low: Floats, high: Floats) -> Vertices:
    """For each row the distribution within its bounds that diverges most from its weights; bounds may be infinite."""
    n = len(weights)
    best = Vertices(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n))
    for rows in length_batches(weights.lengths, rows=n, cells=CELLS):
        padded, real = odds.take(rows).pad(np.inf)  # (B, T)
        own, _ = weights.take(rows).pad()
        order = padded.argsort(axis=1, kind="stable")  # padding last, as it was
        part = _Sorted(np.take_along_axis(own, order, 1), np.take_along_axis(padded, order, 1), real)
        found = _best(part, low[rows], high[rows])
        back = np.arange(len(rows))
        first, second = order[back, found.first], order[back, found.second]
        for whole, values in zip(best, found._replace(first=first, second=second), strict=True):
            whole[rows] = values
    return best


class _Sorted(NamedTuple):
    """A padded batch of rows in ascending order of odds."""

    weights: Floats  # (B, T)
    odds: Floats  # (B, T)
    real: Flags  # (B, T)


def _best(rows: _Sorted, low: Floats, high: Floats) -> Vertices:
    inside = rows.real & (rows.odds >= low[:, None]) & (rows.odds <= high[:, None])  # (B, T)
    light = np.where(inside, rows.weights, np.inf)
    item = light.argmin(axis=1)
    least = light.min(axis=1)
    alone = np.where(least < np.inf, HALF + phi(1.0, np.minimum(least, 1.0)), -np.inf)
    best = Vertices(item, item.copy(), np.ones(len(item)), alone)
    for bound in (low, high):
        below = np.where(rows.real & (rows.odds < bound[:, None]), rows.weights, np.inf)
        above = np.where(rows.real & (rows.odds > bound[:, None]), rows.weights, np.inf)
        _improve(best, rows, bound, _crossed(_lightest_from_right(below), _lightest_from_right(above)))
        _improve(best, rows, bound, _crossed(_lightest_from_left(below), _lightest_from_left(above)))
    return best


def _lightest_from_left(weights: Floats) -> Flags:
    """Items lighter than all to the left of them, (B, T): far below the bound, or near above it."""
    least = np.minimum.accumulate(weights, axis=1)
    return np.asarray(weights < np.concatenate([np.full((len(weights), 1), np.inf), least[:, :-1]], axis=1))


def _lightest_from_right(weights: Floats) -> Flags:
    """Items lighter than all to the right of them, (B, T): near below the bound, or far above it."""
    return _lightest_from_left(weights[:, ::-1])[:, ::-1]


def _crossed(first: Flags, second: Flags) -> Iterator[tuple[Indices, Indices, Indices]]:
    """Row, first and second position of each pair of flagged items of a row, in order of rows, PAIRS at a time."""
    items, others = np.nonzero(first)[1], np.nonzero(second)[1]
    many, several = first.sum(axis=1), second.sum(axis=1)  # (B,)
    ends = np.cumsum(many * several)
    starts = ends - many * several
    for start in range(0, int(ends[-1]), PAIRS):
        number = np.arange(start, min(start + PAIRS, int(ends[-1])))
        row = np.searchsorted(ends, number, side="right")
        which, other = np.divmod(number - starts[row], several[row])
        yield row, items[(np.cumsum(many) - many)[row] + which], others[(np.cumsum(several) - several)[row] + other]


def _improve(best: Vertices, rows: _Sorted, bound: Floats, pairs: Iterator[tuple[Indices, Indices, Indices]]) -> None:
    """Put the best pair of each row in its place if it beats what stands there."""
    for row, i, j in pairs:
        distance = rows.odds[row, j] - rows.odds[row, i]
        share = (rows.odds[row, j] - bound[row]) / distance
        divergence = HALF + phi(share, rows.weights[row, i]) + phi(1 - share, rows.weights[row, j])
        firsts = np.flatnonzero(np.diff(row, prepend=-1))  # where a row's pairs begin
        highest = np.maximum.reduceat(divergence, firsts)
        top = np.flatnonzero(divergence == np.repeat(highest, np.diff(firsts, append=len(row))))
        top = top[np.flatnonzero(np.diff(row[top], prepend=-1))]  # the first of each row on ties
        top = top[divergence[top] > best.divergence[row[top]]]
        best.first[row[top]], best.second[row[top]] = i[top], j[top]
        best.share[row[top]], best.divergence[row[top]] = share[top], divergence[top]
