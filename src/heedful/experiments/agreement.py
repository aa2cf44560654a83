"""Do two models, such as two seeds, attend to the same items? (Wiegreffe & Pinter 2019, section 3.2)"""

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.measures import jsd, tvd


def agreement(first: Evidence, second: Evidence) -> pl.DataFrame:
    """From the evidence of two models on the same instances, one row an instance: `jsd` of their attention (0 to
    ln 2), `tvd` of their outputs, and `same`, whether they decide alike. Instances or items that differ are refused."""
    check_same_items(first, second)
    if first.outputs != second.outputs:
        raise BadInput(f"outputs of {first.outputs} and of {second.outputs} classes cannot be compared")
    return pl.DataFrame(
        {
            "id": pl.Series(list(first.ids), dtype=pl.String),
            "jsd": jsd(first.weights, second.weights),
            "tvd": tvd(first.output, second.output),
            "same": first.decisions == second.decisions,
        }
    )


def check_same_items(first: Evidence, second: Evidence) -> None:
    """Raise unless both are of the same instances with the same items, in the same order."""
    if list(first.ids) != list(second.ids):
        lost = [id_ for id_, other in zip(first.ids, second.ids, strict=False) if id_ != other]
        where = f"instance '{lost[0]}' is another one there" if lost else f"{len(first):,} and {len(second):,} of them"
        raise BadInput(f"the instances are not the same ({where}): compare models on the same test split")
    differ = first.tokens.lengths != second.tokens.lengths
    if not differ.any():
        differ = np.zeros(len(first), dtype=bool)
        differ[first.tokens.row_of_value[first.tokens.values != second.tokens.values]] = True
    if differ.any():
        raise BadInput(
            f"instance '{first.ids[int(differ.argmax())]}' has other items there: attention over different items "
            "cannot be compared; take runs of the same corpus options and kind of model"
        )
