"""Comprehensiveness and sufficiency (DeYoung et al. 2020, ERASER, section 4) of attention: by how much does the
predicted probability fall without the top-ranked items, or with them alone? Items lose their weight, not their place in
the text."""

from collections.abc import Sequence
from numbers import Real

import numpy as np
import polars as pl

from heedful.errors import BadConfig
from heedful.evidence import Evidence, probabilities
from heedful.experiments.correlation import measure_values
from heedful.experiments.experiment import Experiment, Headline, bounded, instance_frame
from heedful.experiments.rankings import (
    ORDERINGS,
    Ranked,
    Ranker,
    WeightedSums,
    batches,
    check_rankings,
    each_item,
    in_order,
    only_first,
    without_first,
)
from heedful.experiments.view import View
from heedful.experiments.views import view_of
from heedful.list_columns import list_column
from heedful.measures import output_jsd
from heedful.ragged import Floats, Indices, Ragged
from heedful.randomness import keys

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
_STEPS = ("probability", "js", "mass")


@bounded
def curves(
    evidence: Evidence,
    *,
    rankings: Sequence[str] = ORDERINGS,
    shares: Sequence[float] = SHARES,
    importance: pl.DataFrame | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """One row an instance: for each ranking, by how much the predicted class's probability falls when the top items'
    attention is zeroed, `<ranking>_comprehensiveness`, and when only theirs is kept, `<ranking>_sufficiency`: means
    over `shares` of all items (one item at least), and at each share, `<ranking>_<figure>_at`.

    Every measure in `importance` (see docs/formats.md) is a ranking, too, by its signed values.
    """
    names, taken, view = check_rankings(rankings, ORDERINGS), check_shares(shares), view_of(evidence)
    sizes = first_items(view.weights.lengths, taken)  # (n, P)
    own = view.output[np.arange(len(evidence)), view.decided]
    columns: dict[str, object] = {"items": view.weights.lengths.astype(np.int32)}
    rankers: dict[str, Ranker | Ranked] = {name: Ranker(view, name, keys(evidence.ids), seed) for name in names}
    if importance is not None:
        rankers |= {name: Ranked(values) for name, values in measure_values(evidence, importance, view.decided).items()}
    figures = ("comprehensiveness", "sufficiency")
    kept = {(name, figure): np.empty(sizes.shape) for name in rankers for figure in figures}
    for rows in batches(view):
        items = each_item(view, rows)
        for name, ranker in rankers.items():
            ordered = in_order(items, ranker.orders(rows))
            kept[name, "comprehensiveness"][rows] = _kept(view, rows, without_first(ordered), sizes[rows])
            kept[name, "sufficiency"][rows] = _kept(view, rows, only_first(ordered), sizes[rows])
    for (name, figure), probability in kept.items():
        lost = own[:, None] - probability
        columns[f"{name}_{figure}"] = lost.mean(axis=1)
        columns[f"{name}_{figure}_at"] = pl.Series(lost).cast(pl.List(pl.Float64))
    return instance_frame(evidence.ids, view.decided, **columns)


CURVES = Experiment(
    name="curves",
    function=curves,
    question="How much of the predicted probability depends on the top-ranked words?",
    headline=Headline(
        pl.col("attention_comprehensiveness"),
        "Zeroing the top {item}s' attention lowers the predicted class's probability by {:.3f}",
    ),
    options=lambda settings: {  # `optimal` orders nothing
        "rankings": [name for name in settings.options.rankings if name in ORDERINGS] or ORDERINGS
    },
    random=True,
)


@bounded
def removal_curve(evidence: Evidence, *, ranking: str = "attention", seed: int = 0) -> pl.DataFrame:
    """One row an instance: its `items`, and after 0, 1, ..., all items were removed in the order of a ranking the
    `probability` of the decision, the divergence `js` of the output from the model's own, and the attention `mass`
    removed: lists of one more than the items."""
    check_rankings([ranking], ORDERINGS)
    view = view_of(evidence)
    output, ranker = view.output, Ranker(view, ranking, keys(evidence.ids), seed)
    lengths = view.weights.lengths
    steps = Ragged.from_lengths(np.empty((int((lengths + 1).sum()), len(_STEPS))), lengths + 1)
    for rows in batches(view):
        ordered = in_order(each_item(view, rows), ranker.orders(rows))
        after = probabilities(view.decode_sums(rows, *without_first(ordered)).logits)  # (B, T + 1, K)
        decided = np.take_along_axis(after, view.decided[rows, None, None], axis=2)[..., 0]
        js, mass = output_jsd(after, output[rows, None]), only_first(ordered).mass
        real = np.arange(after.shape[1]) <= lengths[rows, None]
        steps.values[steps.cells(rows)] = np.stack([decided, js, mass], axis=-1)[real]
    columns = {name: list_column(steps.like(steps.values[:, index])) for index, name in enumerate(_STEPS)}
    return instance_frame(evidence.ids, view.decided, items=lengths.astype(np.int32), **columns)


def check_shares(shares: Sequence[float]) -> Floats:
    """Shares as an array; raise unless they lie in (0, 1]."""
    good = not isinstance(shares, str) and all(isinstance(share, Real) and 0 < share <= 1 for share in shares)
    if not good or not len(shares):
        raise BadConfig(f"shares = {shares!r}: give shares of all items, above 0 and at most 1, such as [0.1, 0.5]")
    return np.array(shares, dtype=np.float64)


def first_items(lengths: Indices, shares: Floats) -> Indices:
    """How many items each share is, (n, P): rounded up, one at least."""
    exact = lengths[:, None] * shares
    return np.maximum(1, np.ceil(exact - 1e-9)).astype(np.int64)  # 7 % of 100 are 7.000000000000001


def _kept(view: View, rows: Indices, left: WeightedSums, sizes: Indices) -> Floats:
    """The probability of the decision after so many steps (B, P)."""
    mixed = np.take_along_axis(left.mixed, sizes[..., None], axis=1)
    sums = view.decode_sums(rows, mixed, np.take_along_axis(left.mass, sizes, axis=1))
    output = probabilities(sums.logits)  # (B, P, K)
    return np.take_along_axis(output, view.decided[rows, None, None], axis=2)[..., 0]
