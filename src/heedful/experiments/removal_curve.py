"""The output after each removal, from the model's own attention to nothing at all."""

import numpy as np
import polars as pl

from heedful.evidence import Evidence, probabilities
from heedful.experiments.bounded import bounded
from heedful.experiments.rankings import ORDERINGS, Ranker, check_rankings
from heedful.experiments.removals import batches, each_item, in_order, only_first, without_first
from heedful.experiments.views import view_of
from heedful.measures import output_jsd
from heedful.nested import nested
from heedful.ragged import Ragged
from heedful.randomness import keys

_CURVES = ("probability", "js", "mass")


@bounded
def removal_curve(evidence: Evidence, *, ranking: str = "attention", seed: int = 0) -> pl.DataFrame:
    """One row an instance: its `items`, and after 0, 1, ..., all items were removed in the order of a ranking the
    `probability` of the decision, the divergence `js` of the output from the model's own, and the attention `mass`
    removed: lists of one more than the items."""
    check_rankings([ranking], ORDERINGS)
    view = view_of(evidence)
    output, ranker = view.output, Ranker(view, ranking, keys(evidence.ids), seed)
    lengths = view.weights.lengths
    steps = Ragged.from_lengths(np.empty((int((lengths + 1).sum()), len(_CURVES))), lengths + 1)
    for rows in batches(view):
        ordered = in_order(each_item(view, rows), ranker.orders(rows))
        after = probabilities(view.left(rows, *without_first(ordered)).logits)  # (B, T + 1, K)
        decided = np.take_along_axis(after, view.decided[rows, None, None], axis=2)[..., 0]
        js, mass = output_jsd(after, output[rows, None]), only_first(ordered).mass
        real = np.arange(after.shape[1]) <= lengths[rows, None]
        steps.values[steps.cells(rows)] = np.stack([decided, js, mass], axis=-1)[real]
    return pl.DataFrame(
        {
            "id": pl.Series(list(evidence.ids), dtype=pl.String),
            "decision": view.decided.astype(np.int32),
            "items": lengths.astype(np.int32),
            **{name: nested(steps.like(steps.values[:, index])) for index, name in enumerate(_CURVES)},
        }
    )
