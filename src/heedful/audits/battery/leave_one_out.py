"""What a subject says without each of its items: every text is read once an item."""

import numpy as np

from heedful.audits.battery.erasables import ErasableSubject
from heedful.audits.battery.readings import Floats, slices


def without_each(instances: ErasableSubject, way: str) -> Floats:
    """Outputs (N, K) of texts without each single item."""
    items = instances.items
    row = items.row_of_value
    output = np.empty((len(row), instances.output.shape[1]))
    for some in slices(instances.words[row]):
        copies = items.like(np.arange(len(row))).take(row[some])  # which item of all each item of the copies is
        gone = copies.values == some[copies.row_of_value]
        output[some] = instances.erased(row[some], gone, way)
    return output
