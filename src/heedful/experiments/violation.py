"""Does the most attended item argue for the decision? (the violation of a heat-map's promise)"""

import numpy as np
import polars as pl

from heedful.evidence import Evidence
from heedful.experiments.bounded import bounded
from heedful.experiments.margins import Margins, behind


@bounded
def violation(evidence: Evidence) -> pl.DataFrame:
    """One row an instance: `violates`, whether the most attended item (the first one on ties) would decide for another
    class if it had all the attention; `margin`, by how much it argues for the decision against its strongest rival.
    """
    margins = Margins.of(evidence)
    top = margins.weights.argmax()  # (n,)
    items, sizes = margins.items.values[top], margins.sizes.values[top]  # (n, K)
    rivals = np.arange(margins.classes) != margins.decided[:, None]
    return pl.DataFrame(
        {
            "id": pl.Series(list(evidence.ids), dtype=pl.String),
            "decision": margins.decided.astype(np.int32),
            "violates": behind(items, sizes, margins.decided).any(axis=1),
            "margin": np.where(rivals, items, np.inf).min(axis=1),
        }
    )
