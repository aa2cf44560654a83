"""Does the highest weight matter more than another? (Serrano & Smith 2019, section 4: single weights)

The item that ranks first is removed, and in its stead some other one, the rival. The paper draws one rival an instance;
the outputs without each single item are all known here, so the expectation over the rival is exact, and the draw is
kept for figures that show instances.
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from heedful.errors import unknown_name
from heedful.evidence import Evidence, probabilities
from heedful.experiments.arrays import Flags, Floats, Indices
from heedful.experiments.bounded import bounded
from heedful.experiments.rankings import item_values
from heedful.experiments.removals import batches
from heedful.experiments.single_removals import single_removals
from heedful.experiments.view import View
from heedful.experiments.views import view_of
from heedful.measures import output_jsd
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys

Rival = Literal["other", "position"]

LEADERS = ("attention", "gradient", "gradient_attention")  # the rankings whose first item is removed
ROUNDING = 1e-14  # divergences that differ by less are the same: sums of thousands of items leave that much


@bounded
def single_weight(evidence: Evidence, *, rival: Rival = "other", seed: int = 0) -> pl.DataFrame:
    """One row an instance: its `items`, and for the item that ranks first by `attention`, `gradient` and
    `gradient_attention` (the first one on ties) what removing it does, and what removing a rival does in its stead.

    `<ranking>_js` is the divergence (Jensen-Shannon, natural logarithm) of the output without the first item from the
    model's own, `<ranking>_flips` whether the decision changes. Of one seeded rival: `<ranking>_rival_js`,
    `<ranking>_rival_flips`, and how far the first item is ahead of it, `<ranking>_delta_js` and
    `<ranking>_delta_weight`. In expectation over the rival, exactly: `<ranking>_expected_delta_js`,
    `<ranking>_expected_delta_weight`, `<ranking>_expected_flips` (the share of rivals that change the decision) and
    `<ranking>_expected_negative` (the share that matter more than the first item).

    A rival is any `other` item, or drawn by `position` as in the released code: never the first of the text, and
    possibly the very item it is compared with. All is null where there is one item only.
    """
    if rival not in get_args(Rival):
        raise unknown_name("rival", rival, get_args(Rival))
    view = view_of(evidence)
    without = _without_each(view)
    several = pl.Series(view.weights.lengths > 1)
    figures: dict[str, pl.Series] = {}
    for name in LEADERS:
        top = item_values(view, name).argmax()
        uniform = Stream(seed, f"single weight: {name}").uniform(keys(evidence.ids))
        figured = compared(view.weights, without, top, uniform, rival)
        figures |= {f"{name}_{figure}": pl.Series(values) for figure, values in figured.items()}
    return pl.DataFrame(
        {
            "id": pl.Series(list(evidence.ids), dtype=pl.String),
            "decision": view.decided.astype(np.int32),
            "items": view.weights.lengths.astype(np.int32),
            **{name: pl.select(pl.when(several).then(values)).to_series() for name, values in figures.items()},
        }
    )


class Without(NamedTuple):
    """What happens without each single item."""

    js: Ragged  # (N,)
    flips: Ragged  # (N,) of truth values


def _without_each(view: View) -> Without:
    js, flipped = np.empty(len(view.weights.values)), np.empty(len(view.weights.values), dtype=bool)
    output = view.output
    for rows in batches(view):
        found = single_removals(view, rows)
        mask = np.arange(found.flips.shape[1]) < view.weights.lengths[rows, None]
        cells = view.weights.cells(rows)
        js[cells] = output_jsd(probabilities(found.logits), output[rows, None])[mask]
        flipped[cells] = found.flips[mask]
    return Without(view.weights.like(js), view.weights.like(flipped))


def compared(
    weights: Ragged, without: Without, top: Indices, uniform: Floats, rival: Rival
) -> dict[str, Floats | Flags]:
    """The first items (n,), given by their places among all, against their rivals."""
    drawn = drawn_rivals(weights, top, uniform, rival)
    rivals = _rivals(weights, top, rival)
    js, ahead = without.js.values, (without.js.values[top] + ROUNDING)[weights.row_of_value]

    def expected(values: Floats) -> Floats:
        count = weights.like(rivals).sum()
        return np.asarray(weights.like(np.where(rivals, values, 0.0)).sum() / np.maximum(count, 1))

    return {
        "js": js[top],
        "flips": without.flips.values[top],
        "rival_js": js[drawn],
        "rival_flips": without.flips.values[drawn],
        "delta_js": js[top] - js[drawn],
        "delta_weight": weights.values[top] - weights.values[drawn],
        "expected_delta_js": js[top] - expected(js),
        "expected_delta_weight": weights.values[top] - expected(weights.values),
        "expected_flips": expected(without.flips.values.astype(np.float64)),
        "expected_negative": expected((js > ahead).astype(np.float64)),
    }


def _rivals(weights: Ragged, top: Indices, rival: Rival) -> Flags:
    """Which items may be drawn, (N,)."""
    may = np.ones(len(weights.values), dtype=bool)
    may[top if rival == "other" else weights.offsets[:-1]] = False
    return may


def drawn_rivals(weights: Ragged, top: Indices, uniform: Floats, rival: Rival) -> Indices:
    """The places among all items of rivals of the first items (n,); where there is one item only, that."""
    first, others = weights.offsets[:-1], weights.lengths - 1
    place = first + np.minimum((uniform * others).astype(np.int64), np.maximum(others - 1, 0))
    step = place >= top if rival == "other" else np.ones(len(top), dtype=bool)
    return np.asarray(np.where(others > 0, place + step, first))
