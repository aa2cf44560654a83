"""Plausibility: does attention point at the words that people marked as the reason (rationales; DeYoung et al. 2020)?

People cannot see what a model decides from. A map may please them and be wrong about the model, or the other way
round, so nothing here is part of a verdict.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.experiments.summary import difference, estimates, interval_kinds
from heedful.ragged import Flags, Floats, Indices, Ragged
from heedful.randomness import Stream, keys

MEASURES = ("auprc", "f1", "iou_f1")
OVERLAP = 0.5  # intersection over union from which on two spans match
NO_METHOD = ("attention", "random")  # rankings that are not attributions


def plausibility(
    ids: Sequence[str],
    weights: Ragged,
    rationales: Ragged,
    rankings: Mapping[str, Ragged] | None = None,
    *,
    seed: int = 0,
) -> pl.DataFrame:
    """One row an instance: `id`, `items`, `marked` (items of the rationale) and, for attention, a random order and each
    of the `rankings` (values (N,), the largest first), `<ranking>_auprc`, `<ranking>_f1` and `<ranking>_iou_f1`.

    `auprc` is the average precision of the ranking; `f1` that of its top k items, k as many as people marked; `iou_f1`
    that of runs of consecutive top items against runs of marked ones, which match if they share half of their union.
    `rationales` flags marked items (N,). Null where no item is marked, or all are.
    """
    if not np.array_equal(weights.offsets, rationales.offsets):
        raise BadInput("rationales need one flag an item: their lengths differ from those of the weights")
    if len(ids) != len(weights):
        raise BadInput(f"{len(ids)} ids for {len(weights)} instances; give one each")
    values = {"attention": weights, "random": _random(ids, weights, seed)}
    for name, ranking in (rankings or {}).items():
        if name in values:
            raise BadInput(f"'{name}' is the name of one of heedful's own rankings; rename it")
        if not np.array_equal(weights.offsets, ranking.offsets):
            raise BadInput(f"ranking '{name}': its lengths differ from those of the weights; give one value an item")
        values[name] = ranking
    flags = np.asarray(rationales.values, dtype=np.bool_)
    marked = weights.like(flags).sum().astype(np.int64)  # (n,)
    defined = (marked > 0) & (marked < weights.lengths)
    columns: dict[str, Any] = {
        "id": pl.Series(list(ids), dtype=pl.String),
        "items": pl.Series(weights.lengths, dtype=pl.Int64),
        "marked": pl.Series(marked, dtype=pl.Int64),
    }
    for name, ranking in values.items():
        order = _order(ranking)
        top = _top(weights, order, marked)
        figures = (
            _average_precision(ranking, order, flags, marked),
            _f1(weights.like(top & flags).sum(), marked, marked),
            _iou_f1(weights, top, flags),
        )
        for measure, figure in zip(MEASURES, figures, strict=True):
            columns[f"{name}_{measure}"] = pl.Series(np.where(defined, figure, np.nan)).fill_nan(None)
    return pl.DataFrame(columns)


def ranking_names(frame: pl.DataFrame) -> list[str]:
    """The rankings in a frame of `plausibility`."""
    ending = f"_{MEASURES[0]}"
    return [name.removesuffix(ending) for name in frame.columns if name.endswith(ending)]


def plausibility_scores(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """One row a ranking: `ranking`, `n` (texts in which it is defined), the means `auprc`, `f1` and `iou_f1`, each with
    its 95 % bootstrap interval (`_low`, `_high`), and `lead`, by how much the AUPRC of attention exceeds its own, text
    by text (null: attention itself)."""
    rows = []
    for name in ranking_names(frame):
        found = estimates(frame.select(f"{name}_{measure}" for measure in MEASURES), seed=seed, draws=draws)
        row: dict[str, Any] = {"ranking": name, "n": found[f"{name}_{MEASURES[0]}"].n}
        for measure in MEASURES:
            row |= found[f"{name}_{measure}"].columns(measure)
        lead = None
        if name != "attention" and row["n"] and draws:
            pair = (frame[f"{each}_auprc"].cast(pl.Float64).fill_null(np.nan) for each in ("attention", name))
            lead = difference(*pair, paired=True, seed=seed, draws=draws)
        ends = (None, None, None) if lead is None else lead
        rows.append(row | dict(zip(("lead", "lead_low", "lead_high"), ends, strict=True)))
    kinds: dict[str, Any] = {"ranking": pl.String, "n": pl.Int64, **interval_kinds((*MEASURES, "lead"))}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _random(ids: Sequence[str], weights: Ragged, seed: int) -> Ragged:
    """Random values (N,): they depend on the seed, the id and the place alone."""
    each = keys(ids)[weights.row_of_value]
    return weights.like(Stream(seed, "plausibility: random").uniform(each, weights.place_in_row))


def _order(values: Ragged) -> Indices:
    """Places of all values, row by row, the largest first, ties in the order of the text, (N,)."""
    return np.lexsort((-values.values.astype(np.float64), values.row_of_value))


def _top(rows: Ragged, order: Indices, counts: Indices) -> Flags:
    """Flags of the first `counts` (n,) items of each row in this order, (N,)."""
    top = np.zeros(len(order), dtype=np.bool_)
    top[order] = rows.place_in_row < counts[rows.row_of_value]
    return top


def _average_precision(values: Ragged, order: Indices, flags: Flags, marked: Indices) -> Floats:
    """The mean over marked items of the precision where they are reached; items of equal value are reached together."""
    rows, place = values.row_of_value, values.place_in_row
    ranked, hits = values.values[order], flags[order]
    last = np.ones(len(order), dtype=np.bool_)  # of the items of equal value
    last[:-1] = (ranked[1:] != ranked[:-1]) | (rows[1:] != rows[:-1])
    ends = np.flatnonzero(last)
    reached = ends[np.searchsorted(ends, np.arange(len(order)))]
    sums = np.concatenate([[0], np.cumsum(hits)])
    found = sums[reached + 1] - sums[values.offsets[:-1][rows]]
    precision = found / (place[reached] + 1)
    return _ratio(values.like(np.where(hits, precision, 0.0)).sum(), marked)


def _iou_f1(rows: Ragged, top: Flags, flags: Flags) -> Floats:
    """F1 of spans (n,). Runs are maximal, so that each matches one at most."""
    chosen, marked = _runs(rows, top), _runs(rows, flags)
    both = top & flags
    pairs, shared = np.unique(np.stack([chosen[both], marked[both]]), axis=1, return_counts=True)
    sizes = [np.bincount(runs[runs >= 0]) for runs in (chosen, marked)]
    union = sizes[0][pairs[0]] + sizes[1][pairs[1]] - shared
    matched = pairs[0][shared >= OVERLAP * union]  # runs of top items
    row_of_run = [_rows_of_runs(rows, runs) for runs in (chosen, marked)]
    number = len(rows)
    counts = [np.bincount(each, minlength=number) for each in (row_of_run[0][matched], *row_of_run)]
    return _f1(*counts)


def _runs(rows: Ragged, flags: Flags) -> Indices:
    """The number of the run of consecutive flagged items that each item is in, counted over all rows; -1: none."""
    before = np.concatenate([[False], flags[:-1]]) & (rows.place_in_row > 0)
    return np.where(flags, np.cumsum(flags & ~before) - 1, -1)


def _rows_of_runs(rows: Ragged, runs: Indices) -> Indices:
    """The row that each run is in."""
    _, first = np.unique(runs[runs >= 0], return_index=True)
    return rows.row_of_value[runs >= 0][first]


def _f1(hits: Any, predicted: Any, marked: Any) -> Floats:
    return _ratio(2 * np.asarray(hits), np.asarray(predicted) + np.asarray(marked))


def _ratio(above: Any, below: Any) -> Floats:
    """NaN where there is nothing to divide by."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.asarray(np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0))
