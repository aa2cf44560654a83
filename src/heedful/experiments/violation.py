"""Does the most attended item argue for the decision? (the violation of a heat-map's promise)"""

import numpy as np
import polars as pl

from heedful.evidence import Evidence
from heedful.experiments.bounded import bounded
from heedful.experiments.margins import Margins, first_best


@bounded
def violation(evidence: Evidence) -> pl.DataFrame:
    """One row an instance: `violates`, whether the most attended item (the first one on ties) would decide for another
    class if it had all the attention; `margin`, by how much it argues for the decision against its strongest rival.
    """
    margins = Margins.of(evidence)
    top = margins.weights.argmax()  # (n,)
    alone = margins.alone.values[top]  # (n, K)
    rivals = np.arange(margins.classes) != margins.decided[:, None]
    return pl.DataFrame(
        {
            "id": pl.Series(list(evidence.ids), dtype=pl.String),
            "decision": margins.decided.astype(np.int32),
            "violates": first_best(alone, np.abs(alone)) != margins.decided,
            "margin": np.where(rivals, margins.items.values[top], np.inf).min(axis=1),
        }
    )
