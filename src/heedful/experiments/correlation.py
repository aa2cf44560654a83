"""Does attention rank the items as measures of importance do? (Jain & Wallace 2019, section 4.1, Table 2)"""

from itertools import combinations

import numpy as np
import polars as pl

from heedful.evidence import Evidence
from heedful.experiments.bounded import bounded
from heedful.experiments.counts import check_count
from heedful.experiments.importances import measured
from heedful.experiments.views import decisions_of
from heedful.ranking import kendall, top_distance


@bounded
def correlation(evidence: Evidence, importance: pl.DataFrame, *, top: int = 10) -> pl.DataFrame:
    """One row an instance; for each two of `attention` and the measures in `importance`, Kendall's `tau_<one>_<other>`,
    its p-value `p_<one>_<other>`, and `top_<one>_<other>`, the distance of the lists of the `top` items (0 the same, 1
    opposite). Null where undefined: fewer than two items, or one of the two constant.

    `importance` has one row an instance and measure (see docs/formats.md); a measure with one row for each output is
    taken at the decided one. Importance is what its size says: signs are dropped.
    """
    check_count("top", top, least=1)
    decided = decisions_of(evidence)
    measures = measured(evidence, importance, decided)
    vectors = {"attention": evidence.weights}
    vectors |= {name: values.like(np.abs(values.values)) for name, values in measures.items()}
    columns: dict[str, pl.Series] = {
        "id": pl.Series(list(evidence.ids), dtype=pl.String),
        "decision": pl.Series(decided, dtype=pl.Int32),
    }
    for (one, first), (other, second) in combinations(vectors.items(), 2):
        tau, p_value = kendall(first, second)
        figures = {"tau": tau, "p": p_value, "top": top_distance(first, second, top=top)}
        columns |= {f"{name}_{one}_{other}": pl.Series(values).fill_nan(None) for name, values in figures.items()}
    return pl.DataFrame(columns)
