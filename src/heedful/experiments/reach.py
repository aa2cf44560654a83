"""Can any attention at all change the decision, and how far can it move the output?

The logits under any attention are a weighted mean of what the items say alone, so they range over the convex hull of
these. No attention changes the decision if and only if every item alone decides for the same class. Every probability
is least at a single item; the greatest is at a single item for two classes, and the solution of a convex program for
more.
"""

import numpy as np
import polars as pl

from heedful.evidence import Evidence, probabilities
from heedful.experiments.arrays import Floats
from heedful.experiments.bounded import bounded
from heedful.experiments.counts import check_count
from heedful.experiments.largest_probability import largest_probability
from heedful.experiments.margins import Margins
from heedful.experiments.sums import first_best


@bounded
def reach(evidence: Evidence, *, iterations: int = 200) -> pl.DataFrame:
    """One row an instance: `can_change`, whether some attention distribution changes the decision (exact for any number
    of classes), and the range of each output over all distributions, `lowest` and `highest`, lists of K like `output`.

    `gap` is by how much a greatest probability may exceed `highest` at most: 0 for two classes, and what the solver's
    duality gap leaves open after so many `iterations` for more. Where `can_change` is false, attention is provably
    irrelevant to the decision.
    """
    check_count("iterations", iterations, least=0)
    margins = Margins.of(evidence)
    says = first_best(margins.alone.values, np.abs(margins.alone.values))  # (N,): the class each item alone decides for
    can_change = margins.alone.like(says != margins.decided[margins.alone.row_of_value]).sum() > 0
    alone = margins.alone.like(probabilities(margins.alone.values))  # (N, K)
    lowest, highest = -alone.like(-alone.values).max(), alone.max()  # (n, K)
    gap = np.zeros(len(evidence))
    if margins.classes > 2:
        highest, gap = largest_probability(margins.alone, iterations=iterations)
    return pl.DataFrame(
        {
            "id": pl.Series(list(evidence.ids), dtype=pl.String),
            "decision": margins.decided.astype(np.int32),
            "can_change": can_change,
            "lowest": _like_output(lowest, evidence),
            "highest": _like_output(highest, evidence),
            "gap": gap,
        }
    )


def _like_output(values: Floats, evidence: Evidence) -> pl.Series:
    """A sigmoid model has one output, the second class's probability."""
    return pl.Series(values[:, -evidence.outputs :]).cast(pl.List(pl.Float64))
