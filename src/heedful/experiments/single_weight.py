"""Does the highest weight matter more than another? (Serrano & Smith 2019, section 4: single weights)

Zero the attention of the item that ranks first, or of another one, the rival. The paper draws one rival an instance;
here the output without each item is known, so expectations are exact. One draw is kept for figures of instances.
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from heedful.errors import unknown_name
from heedful.evidence import Evidence, probabilities
from heedful.experiments.affine_view import AffineView
from heedful.experiments.experiment import Experiment, Headline, bounded, check_frame, instance_frame
from heedful.experiments.rankings import batches, each_item, item_values, without_each
from heedful.experiments.summary import estimates, interval_kinds
from heedful.experiments.view import TOLERANCE, View, flips
from heedful.experiments.views import view_of
from heedful.measures import output_jsd
from heedful.ragged import Flags, Floats, Indices, Ragged
from heedful.randomness import Stream, keys

Rival = Literal["other", "position"]
LEADERS = ("attention", "gradient", "gradient_attention")  # the rankings whose first item is removed
ROUNDING = 1e-14  # divergences that differ by less are the same: sums of thousands of items leave that much
SHARES = ("both", "top_only", "rival_only", "neither", "negative")


@bounded
def single_weight(evidence: Evidence, *, rival: Rival = "other", seed: int = 0) -> pl.DataFrame:
    """One row an instance: its `items`, and the effect of removing the item that ranks first by `attention`, `gradient`
    or `gradient_attention` (the first one on ties), or a rival instead. All is null where there is only one item.

    `<ranking>_js` is the divergence (Jensen-Shannon, natural logarithm) of the output without the first item from the
    model's own, `<ranking>_flips` whether the decision changes; `_rival_js` and `_rival_flips` are those of one seeded
    rival, `_delta_js` and `_delta_weight` the first item's lead over it. Exact expectations over the rival:
    `_expected_delta_js`, `_expected_delta_weight`, `_expected_flips` (the share of rivals that change the decision) and
    `_expected_negative` (the share that matter more than the first item).

    A rival is any `other` item, or drawn by `position` as in the released code: never the first of the text, and
    possibly the very item it is compared with.
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
    defined = {name: pl.select(pl.when(several).then(values)).to_series() for name, values in figures.items()}
    return instance_frame(evidence.ids, view.decided, items=view.weights.lengths.astype(np.int32), **defined)


SINGLE_WEIGHT = Experiment(
    name="single_weight",
    function=single_weight,
    question="Does the highest weight matter more than another one?",
    headline=Headline(pl.col("attention_flips"), "Zeroing the top {item}'s attention alone flips {:.1%} of decisions"),
    options=lambda settings: {"rival": "position" if settings.preset == "released" else "other"},
    random=True,
    exact="yes, also in expectation over the other weight",
)


def flip_table(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """From the frame of `single_weight`, two rows a ranking: with the `drawn` rival, and `expected` over all rivals.

    Shares of the `n` instances with several items: `both` change the decision, `top_only`, `rival_only`, `neither`;
    and `negative`, in which removing the rival moves the output more (null where there are no such instances), with
    95 % bootstrap intervals `<share>_low`, `<share>_high` (null without draws).
    """
    check_frame(frame, "single_weight", ["items", "attention_expected_flips"])
    several = frame.filter(pl.col("items") > 1)
    ways = [(name, way) for name in LEADERS for way in ("drawn", "expected")]
    shares = {f"{name} {way} {share}": value for name, way in ways for share, value in _shares(name, way).items()}
    found = estimates(several.select(**shares), seed=seed, draws=draws)
    rows = []
    for name, way in ways:
        row: dict[str, object] = {"ranking": name, "rival": way, "n": len(several)}
        for share in SHARES:
            row |= found[f"{name} {way} {share}"].columns(share)
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides=interval_kinds(SHARES))


def _shares(name: str, way: str) -> dict[str, pl.Expr]:
    """What each share is the mean of."""
    top = pl.col(f"{name}_flips").cast(pl.Float64)
    if way == "drawn":
        rival, negative = pl.col(f"{name}_rival_flips").cast(pl.Float64), pl.col(f"{name}_delta_js") < -ROUNDING
    else:
        rival, negative = pl.col(f"{name}_expected_flips"), pl.col(f"{name}_expected_negative")
    return {
        "both": top * rival,
        "top_only": top * (1 - rival),
        "rival_only": (1 - top) * rival,
        "neither": (1 - top) * (1 - rival),
        "negative": negative,
    }


class Without(NamedTuple):
    """What zeroing each single item does."""

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
    """The figures of top items (n,), by their places among all items, against their rivals."""
    drawn = drawn_rivals(weights, top, uniform, rival)
    rivals = np.ones(len(weights.values), dtype=bool)  # (N,): which items may be drawn
    rivals[top if rival == "other" else weights.offsets[:-1]] = False
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


def drawn_rivals(weights: Ragged, top: Indices, uniform: Floats, rival: Rival) -> Indices:
    """The places among all items of rivals of the first items (n,); where there is one item only, that."""
    first, others = weights.offsets[:-1], weights.lengths - 1
    place = first + np.minimum((uniform * others).astype(np.int64), np.maximum(others - 1, 0))
    step = place >= top if rival == "other" else np.ones(len(top), dtype=bool)
    return np.asarray(np.where(others > 0, place + step, first))


class SingleRemovals(NamedTuple):
    """Logits of instances (B,) without each of their items, and whether the decision flips."""

    logits: Floats  # (B, T, K)
    flips: Flags  # (B, T)


def single_removals(view: View, rows: Indices) -> SingleRemovals:
    """Zero each item of instances (B,) alone; affine decoders sum class by class, (K, B, T), along memory."""
    if not isinstance(view, AffineView):
        return _decoded(view, rows)
    weights, alone = view.by_class(rows)  # (B, T), (K, B, T)
    logits = _logits(weights, alone, view.bias[rows])
    decided, each = view.decided[rows], np.arange(len(rows))
    margins = logits[decided, each] - logits
    margins[decided, each] = np.inf
    found = SingleRemovals(logits.transpose(1, 2, 0), margins.min(axis=0) < 0)
    # no sum of sizes of what is left exceeds this
    greatest = 2 * np.maximum(np.abs(alone).max(axis=(0, 2)), np.abs(view.bias[rows]).max(axis=1))  # (B,)
    near = (np.abs(margins, out=margins).min(axis=0) <= TOLERANCE * greatest[:, None]).any(axis=1)
    if near.any():  # rounding could have made a tie of it: then sizes are summed up as well
        found.flips[near] = _decoded(view, rows[near], found.flips.shape[1]).flips
    return found


def _logits(weights: Floats, alone: Floats, bias: Floats) -> Floats:
    mass = _others(weights)
    none = mass == 0
    logits = _others(np.multiply(weights, alone, order="C"))
    logits /= np.where(none, 1.0, mass)
    if none.any():  # the others have no weight
        logits = np.where(none, bias.T[..., None], logits)
    return logits


def _others(values: Floats) -> Floats:
    """The sum of all others along the last axis; nothing is subtracted from a total."""
    sums = np.zeros(values.shape)
    np.cumsum(values[..., :-1], axis=-1, out=sums[..., 1:])
    sums[..., :-1] += np.cumsum(values[..., :0:-1], axis=-1)[..., ::-1]
    return sums


def _decoded(view: View, rows: Indices, width: int = 0) -> SingleRemovals:
    sums = view.decode_sums(rows, *without_each(each_item(view, rows)))
    changed = flips(sums, np.broadcast_to(view.decided[rows, None], sums.logits.shape[:2]))
    padding = np.zeros((len(rows), max(0, width - changed.shape[1])), dtype=bool)
    return SingleRemovals(sums.logits, np.concatenate([changed, padding], axis=1))
