"""What if the model had had no attention of its own? Its weights replaced by uniform, random and permuted ones.

A model that decides just as well under any weights does not rest on those it shows.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from heedful.evidence import Evidence, probabilities
from heedful.experiments.bounded import bounded
from heedful.experiments.views import view_of
from heedful.measures import tvd
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys

KINDS = ("uniform", "random", "permuted")


@bounded
def substitution(evidence: Evidence, *, seed: int = 0) -> pl.DataFrame:
    """One row an instance: for `uniform`, `random` (Dirichlet(1), one seeded draw) and `permuted` weights (one seeded
    draw) the TVD from the model's own output, `<kind>_tvd`, the decision, `<kind>_decision`, and `<kind>_changed`.

    `decision` is the model's own, `label` the true class where it is known.
    """
    view = view_of(evidence)
    output = view.output
    columns: dict[str, object] = {
        "id": pl.Series(list(evidence.ids), dtype=pl.String),
        "label": evidence.label_column(),
        "decision": view.decided.astype(np.int32),
    }
    for kind, weights in substitutes(view.weights, evidence.ids, seed).items():
        sums = view.under(weights)
        columns[f"{kind}_tvd"] = tvd(probabilities(sums.logits), output)
        columns[f"{kind}_decision"] = sums.decided.astype(np.int32)
        columns[f"{kind}_changed"] = sums.decided != view.decided
    return pl.DataFrame(columns)


def substitutes(weights: Ragged, ids: Sequence[str], seed: int) -> dict[str, Ragged]:
    """What instances are given instead of their weights (N,), by kind."""
    rows = weights.row_of_value
    names = keys(ids)[rows]  # (N,)
    positions = np.arange(len(rows)) - weights.offsets[rows]  # (N,)
    drawn = -np.log(Stream(seed, "substitution: random").uniform(names, positions))  # exponential: Dirichlet(1)
    total = weights.like(drawn).sum()
    # sorting by row, then by random numbers, shuffles every row at once
    shuffled = np.lexsort((Stream(seed, "substitution: permuted").uniform(names, positions), rows))
    return {
        "uniform": weights.like(1.0 / weights.lengths[rows]),
        "random": weights.like(drawn / total[rows]),
        "permuted": weights.like(weights.values[shuffled]),
    }
