"""Leave-one-out: how far the output moves without an item (Jain & Wallace 2019, section 4.1).

The item, a token or a sentence, is really deleted: the model reads the shorter text. Its blank form replaces the item
by a token that stands for nothing, where the model has one.
"""

import numpy as np

from heedful.evidence import chance, decide
from heedful.importance import MEASURES
from heedful.importance.measure import Deletions, Erasable, Instances, Measure, Measured, chunks
from heedful.measures import tvd
from heedful.ragged import Ragged

WORDS = 1 << 19  # words of shortened texts at a time: bounds memory


def leave_one_out(instances: Instances, *, way: str = "delete") -> Measured:
    """Total variation distance between the outputs with and without each item: (N,) float32. Where the outputs without
    an item are not exact, the TVD from the exact ones bounds the error."""
    items, deletions = instances.items, instances.without_each(way)
    whole = np.repeat(deletions.whole, items.lengths, axis=0)  # (N, K)
    return Measured(items.like(tvd(whole, deletions.without.values).astype(np.float32)), deletions.error)


def fall(instances: Instances) -> Ragged:
    """By how much the decided class's probability falls without each item, (N,)."""
    output, items = instances.output, instances.items
    row = items.row_of_value
    decided = decide(output)[row]
    without = instances.without_each("delete").without.values
    return items.like(chance(output[row], decided) - chance(without, decided))


def erased_one_by_one(instances: Erasable, way: str) -> Deletions:
    """Every text read as often as it has items, with one of them erased."""
    items = instances.items
    row = items.row_of_value
    without = np.empty((len(row), instances.output.shape[1]))
    for some in chunks(instances.words[row], WORDS):
        copies = items.like(np.arange(len(row))).take(row[some])  # which item of all each item of the copies is
        gone = copies.values == some[copies.row_of_value]
        without[some] = instances.erased(row[some], gone, way)
    return Deletions(instances.output, items.like(without))


MEASURES.register(
    "leave_one_out",
    Measure(lambda texts, _: leave_one_out(texts), signed=lambda texts, _: fall(texts)),
)
MEASURES.register(
    "leave_one_out_blank",
    Measure(lambda texts, _: leave_one_out(texts, way=texts.ways[1]), blank=True),
)
