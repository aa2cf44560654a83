"""Linear programs on attention, many at once: the cheapest mixture of items whose output is within a ball.

The ball: of all logits that differ from the model's own by u - v, u and v not negative, those with
sum_k u_k / up_k <= 1 and sum_k v_k / down_k <= 1. With up_k = log(1 + epsilon / y_k) and down_k = epsilon / y_k classes
gain epsilon at most, and lose epsilon at most, before they are normalised, which only brings one of both sums down: the
whole ball is feasible. (A class with less than epsilon can lose all of it. `loose` balls let it, some at a time, and
are not feasible throughout.)

Every program begins with all weight on its cheapest item, which costs least and is too far away. The dual simplex
method brings it into the ball. A program is a tableau: a row for each class but one (the likeliest, against which
log-odds are taken), for the sum of weights and for both bounds of the ball; a column for each item, u_k, v_k, for what
is left of both bounds, and the values. All programs take a step together, and leave when they are done.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from heedful.experiments.adversaries.divergence import xlogx
from heedful.ragged import Flags, Floats, Indices

PIVOTS = 2000  # steps of a program at most
SMALL = 1e-9  # too small to divide by, or below zero only by rounding
FARTHEST = 1e3  # by which logits move at most
WARM = 12  # classes: of so many, programs end sooner where others ended, which takes a matrix product to set up
CROWDED = 0.75  # of programs that are not done: with fewer, those that are leave
VANISHED = 1e-3  # what is left of a class that loses all, in loose balls
GAIN = 1e-7  # of divergence: less is not worth a step


@dataclass
class Programs:
    """P programs of T items and C classes."""

    tableaux: Floats  # (P, C + 3, T + 2 C + 3): the last row holds reduced costs, the last column values
    basis: Indices  # (P, C + 2): the column whose value stands in each row
    weights: Floats  # (P, T): the model's attention
    solved: Flags  # (P,)

    @property
    def items(self) -> int:
        """T, padding included."""
        return int(self.weights.shape[1])

    def points(self, values: Floats | None = None) -> Floats:
        """The distributions (P, T) with these values (P, C + 2) on the basis, its own by default."""
        values = np.maximum(self.tableaux[:, :-1, -1] if values is None else values, 0.0)
        found = np.zeros_like(self.weights)
        program, row = np.nonzero(self.basis < self.items)
        found[program, self.basis[program, row]] = values[program, row]
        total = found.sum(axis=1, keepdims=True)
        return np.asarray(found / np.where(total > 0, total, 1.0))

    def wider(self) -> tuple[Floats, Floats]:
        """Values (P, C + 2), and how they move as the ball grows: that edge leads on where the decoder bends."""
        values, ways = self.tableaux[:, :-1, -1], self.tableaux[:, :-1, -3] + self.tableaux[:, :-1, -2]
        bounds = self.basis >= self.tableaux.shape[2] - 3
        return np.where(bounds, 1.0, np.maximum(values, 0.0)), np.where(bounds, 0.0, ways)

    def climb(self, steps: int) -> None:
        """Go to that neighbouring vertex which diverges most from the model's attention, while there is a better one.

        Weights sum to one, so of the divergence only x log x - (x + w) log(x + w) of its items counts; where w is 0, as
        in rows that hold no item, that is nothing.
        """
        going = np.flatnonzero(self.solved)
        for _ in range(steps):
            tableaux, basis, own = self.tableaux[going], self.basis[going], self.weights[going]
            item = basis < self.items
            weight = np.where(item, np.take_along_axis(own, np.where(item, basis, 0), axis=1), 0.0)  # (P, M)
            values, columns = np.maximum(tableaux[:, :-1, -1], 0.0), tableaux[:, :-1, :-1]
            limits = np.full(columns.shape, np.inf)
            np.divide(values[:, :, None], columns, out=limits, where=columns > SMALL)
            far = limits.min(axis=1)  # (P, columns): how much enters
            far[np.isinf(far)] = 0.0
            moved = far[:, None] * columns
            np.subtract(values[:, :, None], moved, out=moved)
            reached = _unlike(np.maximum(moved, 0.0, out=moved), weight[:, :, None]).sum(axis=1)
            reached[:, : self.items] += _unlike(far[:, : self.items], own) + xlogx(own)
            entering = reached.argmax(axis=1)
            gained = reached[np.arange(len(going)), entering] - _unlike(values, weight).sum(axis=1)
            better = gained > GAIN
            if not better.any():
                return
            going, entering, tableaux = going[better], entering[better], tableaux[better]
            leaving = limits[better, :, entering].argmin(axis=1)
            _pivot(tableaux, leaving, entering, np.ones(len(going), dtype=bool), np.empty_like(tableaux))
            self.tableaux[going], self.basis[going, leaving] = tableaux, entering


class Setting(NamedTuple):
    """What programs have in common, however the decoder's tangent lies."""

    log_output: Floats  # (P, C): of the model
    kept: Flags  # (P, C): the classes that are not padding
    weights: Floats  # (P, T): the model's attention
    ball: "Ball"


def solve(logits: Floats, costs: Floats, setting: Setting, last: Programs | None = None) -> Programs:
    """The cheapest mixtures by `costs` (P, T), infinite for padding, of items with `logits` (P, T, C). They begin where
    the `last` programs ended, if there are any and classes are many."""
    log_output, kept, weights, ball = setting
    count, items, classes = logits.shape
    every, rest = np.arange(count), np.arange(classes - 1)
    likeliest = log_output.argmax(axis=1)
    others = np.argsort(np.arange(classes) == likeliest[:, None], axis=1, kind="stable")[:, :-1]  # (P, C - 1)
    up, down = ball.sizes(log_output)
    aims = np.take_along_axis(log_output, others, 1) - log_output[every, likeliest][:, None]
    odds = np.take_along_axis(logits, others[:, None], 2) - np.take_along_axis(logits, likeliest[:, None, None], 2)
    missing = ~np.take_along_axis(kept, others, 1)
    aims[missing], odds = 0.0, np.where(missing[:, None], 0.0, odds)
    real = np.isfinite(costs)

    tableaux = np.zeros((count, classes + 3, items + 2 * classes + 3))
    by_class = tableaux[:, : classes - 1]
    by_class[:, :, :items] = np.where(real[:, None], odds.transpose(0, 2, 1), 0.0)
    by_class[:, rest, items + rest] = -np.take_along_axis(up, others, 1)
    by_class[:, rest, items + classes + rest] = np.take_along_axis(down, others, 1)
    by_class[:, :, items + classes - 1] = up[every, likeliest][:, None]
    by_class[:, :, items + 2 * classes - 1] = -down[every, likeliest][:, None]
    by_class[:, :, -1] = aims
    whole, gained, lost, costly = (tableaux[:, row] for row in range(classes - 1, classes + 3))
    whole[:, :items], whole[:, -1] = real, 1.0
    gained[:, items : items + classes], gained[:, [-3, -1]] = 1.0, 1.0
    lost[:, items + classes : items + 2 * classes], lost[:, [-2, -1]] = 1.0, 1.0
    costly[:, :items] = np.where(real, costs, 0.0)

    basis, warm = np.empty((count, classes + 2), dtype=np.int64), np.zeros(count, dtype=bool)
    if last is not None and classes >= WARM:
        basis[:], columns = last.basis, np.take_along_axis(tableaux, last.basis[:, None], 2)  # (P, M + 1, M)
        warm = last.solved & np.isfinite(np.linalg.slogdet(columns[:, :-1])[1])
        tableaux[warm, :-1] = np.linalg.solve(columns[warm, :-1], tableaux[warm, :-1])
        tableaux[warm, -1] -= (columns[warm, -1:] @ tableaux[warm, :-1])[:, 0]
    if not warm.all():
        tableaux[~warm], basis[~warm] = _begun(tableaux[~warm], items, classes)
    return Programs(tableaux, basis, weights, _dual_simplex(tableaux, basis))


def _begun(tableaux: Floats, items: int, classes: int) -> tuple[Floats, Indices]:
    """Tableaux with the cheapest item as a start, and their basis: the ball is as wide as that takes."""
    by_class = tableaux[:, : classes - 1]
    whole, gained, lost, costly = (tableaux[:, row] for row in range(classes - 1, classes + 3))
    every, rest = np.arange(len(tableaux)), np.arange(classes - 1)
    cheapest = np.where(whole[:, :items] > 0, costly[:, :items], np.inf).argmin(axis=1)
    by_class -= by_class[every, :, cheapest][:, :, None] * whole[:, None]
    costly -= costly[every, cheapest][:, None] * whole
    gains = by_class[:, :, -1] < 0
    columns = np.where(gains, items + rest, items + classes + rest)
    by_class /= np.take_along_axis(by_class, columns[:, :, None], 2)
    gained -= (by_class * gains[:, :, None]).sum(axis=1)
    lost -= (by_class * ~gains[:, :, None]).sum(axis=1)
    bounds = np.broadcast_to([items + 2 * classes, items + 2 * classes + 1], (len(tableaux), 2))
    return tableaux, np.concatenate([columns, cheapest[:, None], bounds], axis=1)


@dataclass(frozen=True)
class Ball:
    """How far outputs may be."""

    epsilon: float
    loose: Flags  # (P,)

    def sizes(self, log_output: Floats) -> tuple[Floats, Floats]:
        """By how much the logit of each class may rise and fall, (P, C)."""
        with np.errstate(divide="ignore", over="ignore"):
            share = self.epsilon / np.exp(log_output)
        up = np.where(share < 1, np.log1p(share), np.logaddexp(log_output, np.log(self.epsilon)) - log_output)
        strict, loose = np.minimum(share, FARTHEST), -np.log1p(-np.minimum(share, 1 - VANISHED))
        return np.minimum(up, FARTHEST), np.where(self.loose[:, None], loose, strict)


def _dual_simplex(tableaux: Floats, basis: Indices) -> Flags:
    """Solve programs in place; which were, (P,)."""
    solved = np.zeros(len(tableaux), dtype=bool)
    going, some, columns = np.arange(len(tableaux)), tableaux, basis
    room = np.empty_like(tableaux)  # to allocate it at every step takes as long as the step
    for _ in range(PIVOTS):
        every = np.arange(len(some))
        leaving = some[:, :-1, -1].argmin(axis=1)
        row = some[every, leaving, :-1]
        done = some[every, leaving, -1] >= -SMALL
        stays = ~done & (row < -SMALL).any(axis=1)
        solved[going[done]] = True
        if stays.sum() <= CROWDED * len(some):
            if some is not tableaux:
                tableaux[going], basis[going] = some, columns
            going, some, columns = going[stays], some[stays], columns[stays]
            leaving, row, every, stays = leaving[stays], row[stays], np.arange(len(going)), stays[stays]
            if not len(going):
                return solved
        ratios = np.full(row.shape, np.inf)
        np.divide(np.maximum(some[:, -1, :-1], 0.0), -row, out=ratios, where=row < -SMALL)
        tied = ratios <= ratios.min(axis=1, keepdims=True) + 1e-12
        entering = np.where(tied, row, np.inf).argmin(axis=1)  # of the cheapest the one that moves most
        _pivot(some, leaving, entering, stays, room)
        columns[every[stays], leaving[stays]] = entering[stays]
    if some is not tableaux:
        tableaux[going], basis[going] = some, columns
    return solved


def _pivot(tableaux: Floats, leaving: Indices, entering: Indices, wanted: Flags, room: Floats) -> None:
    """Exchange a row's column of the basis for another one, in place, in the programs in which it is wanted."""
    every = np.arange(len(tableaux))
    row = tableaux[every, leaving]
    row /= np.where(wanted, row[every, entering], 1.0)[:, None]
    column = tableaux[every, :, entering]
    column[every, leaving] -= 1.0
    column[~wanted] = 0.0
    tableaux -= np.multiply(column[:, :, None], row[:, None], out=room[: len(tableaux)])


def _unlike(values: Floats, weights: Floats) -> Floats:
    """x log x - (x + w) log(x + w)."""
    return np.asarray(xlogx(values) - xlogx(values + weights))
