"""Rank correlation, row by row of ragged batches: Kendall's tau-b with its p-value, and a distance of top-k lists.

Short rows are compared pair by pair for a whole batch at once; SciPy, one row at a time, takes a hundred times as long
on a sentence and is used only for long rows, whose many pairs cost more than its n log n.
"""

from functools import cache
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from heedful.ragged import Ragged, length_batches

Floats = NDArray[np.float64]

LONGEST = 128  # rows up to this length are compared pair by pair
_CELLS = 1 << 20  # pairs at a time
_EXACT = 33  # up to this length SciPy's p-value is exact where there are no ties


class Kendall(NamedTuple):
    """Rank correlation of each row; NaN where it is undefined (fewer than two items, or a constant row)."""

    tau: Floats  # (n,)
    p_value: Floats  # (n,)


def kendall(first: Ragged, second: Ragged) -> Kendall:
    """Kendall's tau-b with its p-value, exact or asymptotic by SciPy's rule."""
    check_same_rows(first, second)
    tau, p_value = (np.full(len(first), np.nan) for _ in range(2))
    lengths = first.lengths
    short = np.flatnonzero(lengths <= LONGEST)
    for batch in length_batches(lengths[short] ** 2, rows=len(short) + 1, cells=_CELLS):
        rows = short[batch]
        tau[rows], p_value[rows] = _by_pairs(first.take(rows), second.take(rows))
    for row in np.flatnonzero(lengths > LONGEST).tolist():
        if np.any(first[row] != first[row][0]) and np.any(second[row] != second[row][0]):
            tau[row], p_value[row] = stats.kendalltau(first[row], second[row])
    return Kendall(tau, p_value)


def top_distance(first: Ragged, second: Ragged, *, top: int) -> Floats:
    """Kendall distance of the two lists of the `top` largest items (Fagin, Kumar & Sivakumar 2003, penalty 1/2): (n,).

    Of all pairs of items that are in at least one list, the share that the lists order differently; a pair that only
    one list orders counts half (an item off a list is below all that are on it). 0: the same lists; 1: full lists in
    opposite order. NaN for fewer than two items.
    """
    check_same_rows(first, second)
    distance = np.full(len(first), np.nan)
    lengths = first.lengths
    for rows in length_batches(lengths, rows=_CELLS // (2 * top) ** 2 + 1, cells=_CELLS):
        x, mask = first.take(rows).pad(-np.inf)
        y, _ = second.take(rows).pad(-np.inf)
        x, y = (_only_top(values.astype(np.float64), top) for values in (x, y))  # (B, T)
        either = mask & ((x > -np.inf) | (y > -np.inf))
        kept = np.argsort(~either, axis=1, kind="stable")[:, : 2 * top]  # (B, U): the union first
        listed = np.take_along_axis(either, kept, axis=1)
        signs = [_signs(np.take_along_axis(values, kept, axis=1), listed) for values in (x, y)]
        penalty = np.abs(signs[0] - signs[1]).sum(axis=(1, 2), dtype=np.int64)  # 2 a pair ordered differently, 1 half
        union = listed.sum(axis=1)
        pairs = union * (union - 1)  # each counted twice, like the penalties
        distance[rows] = np.divide(penalty, 2 * pairs, out=np.full(len(rows), np.nan), where=pairs > 0)
    return distance


def check_same_rows(first: Ragged, second: Ragged) -> None:
    """Raise unless two batches are cut into rows the same way."""
    if not np.array_equal(first.offsets, second.offsets):
        raise ValueError("the rows to compare must have the same lengths")


def _by_pairs(first: Ragged, second: Ragged) -> tuple[Floats, Floats]:
    (x, mask), (y, _) = first.pad(), second.pad()  # (B, T)
    size = first.lengths.astype(np.float64)
    (x_signs, x_ties), (y_signs, y_ties) = ((_signs(values, mask), _equals(values, mask)) for values in (x, y))
    balance = (x_signs * y_signs).sum(axis=(1, 2), dtype=np.int64) / 2  # concordant minus discordant pairs
    pairs = size * (size - 1) / 2
    x_tied, y_tied = x_ties.sum(axis=1) / 2, y_ties.sum(axis=1) / 2  # tied pairs
    with np.errstate(invalid="ignore", divide="ignore"):  # undefined rows become NaN, as they should
        tau = np.clip(balance / np.sqrt(pairs - x_tied) / np.sqrt(pairs - y_tied), -1, 1)
        ordered = size * (size - 1)
        # the variance of the balance under independence, ties counted (Kendall 1970); a tie group of c items appears
        # here as c items with c - 1 equals each
        groups = [((ties * (ties - 1)).sum(axis=1), (ties * (2 * ties + 7)).sum(axis=1)) for ties in (x_ties, y_ties)]
        (x0, x1), (y0, y1) = groups
        variance = (ordered * (2 * size + 5) - x1 - y1) / 18 + 2 * x_tied * y_tied / ordered
        variance += np.where(size > 2, x0 * y0 / (9 * ordered * (size - 2)), 0.0)
        p_value = 2 * stats.norm.sf(np.abs(balance) / np.sqrt(variance))
    inversions = np.round((pairs - np.abs(balance)) / 2).astype(np.int64)  # of the nearer of the two orders
    exact = (x_tied == 0) & (y_tied == 0) & (size > 1) & ((size <= _EXACT) | (inversions <= 1))
    for row in np.flatnonzero(exact):
        p_value[row] = _exact_p_value(int(size[row]), int(inversions[row]))
    return tau, np.where(np.isnan(tau), np.nan, p_value)


def _signs(values: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[np.int8]:
    """How each pair of a row's real cells is ordered, (B, T, T): 1, 0 or -1."""
    above = values[:, :, None] > values[:, None, :]
    above &= mask[:, :, None] & mask[:, None, :]
    signs = above.astype(np.int8)
    return np.asarray(signs - signs.swapaxes(1, 2))


def _equals(values: NDArray[Any], mask: NDArray[np.bool_]) -> Floats:
    """How many other real cells of its row equal each real cell, (B, T); 0 on padding."""
    same = (values[:, :, None] == values[:, None, :]) & mask[:, None, :]
    return np.where(mask, same.sum(axis=2) - 1.0, 0.0)


def _only_top(values: Floats, top: int) -> Floats:
    """The `top` largest of each row, the first ones on ties; minus infinity for the rest."""
    order = np.argsort(-values, axis=1, kind="stable")
    kept = np.full_like(values, -np.inf)
    best = order[:, :top]
    np.put_along_axis(kept, best, np.take_along_axis(values, best, axis=1), axis=1)
    return kept


@cache
def _exact_p_value(size: int, inversions: int) -> float:
    """Two-sided: the share of orders at least as far from the middle as one with so many inversions."""
    if size > _EXACT:  # then it is one inversion at most: 1 or 1 + (size - 1) orders on each side
        return 2 / factorial(size) if inversions == 0 else 2 / factorial(size - 1)
    if 4 * inversions == size * (size - 1):
        return 1.0
    return min(1.0, 2 * sum(_inversions(size)[: inversions + 1]) / factorial(size))


@cache
def _inversions(size: int) -> tuple[int, ...]:
    """How many orders of `size` things have 0, 1, 2, ... inversions."""
    if size == 1:
        return (1,)
    fewer = _inversions(size - 1)
    return tuple(sum(fewer[max(0, k - size + 1) : k + 1]) for k in range(size * (size - 1) // 2 + 1))
