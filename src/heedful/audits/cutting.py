"""Texts cut to what a model can read, item by item from the end; added tokens stay."""

import numpy as np

from heedful.adapters.texts import NO_ITEM, Texts
from heedful.ragged import Ragged


def cut(texts: Texts, longest: int | None) -> Texts:
    """The same texts; of those with more than `longest` tokens only the first items, as many as there is room for."""
    if longest is None or not np.any(texts.tokens.lengths > longest):
        return texts
    inside = texts.item.values != NO_ITEM
    added = texts.tokens.like(~inside).sum()  # (n,)
    places = texts.names.offsets[texts.tokens.row_of_value[inside]] + texts.item.values[inside]
    sizes = texts.names.like(np.bincount(places, minlength=len(texts.names.values)))  # (N,): tokens of each item
    rows = sizes.row_of_value
    return texts.keep(_running(sizes) <= (longest - added)[rows])


def _running(rows: Ragged) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Sums of each row up to and with each value, (N,)."""
    sums = np.cumsum(rows.values)
    before = np.concatenate([[0], sums])[rows.offsets[:-1]]
    return np.asarray(sums - before[rows.row_of_value])
