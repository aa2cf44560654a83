"""Texts cut by a user's own tokenizer."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from heedful.adapters.texts import NO_ITEM, Texts
from heedful.errors import BadInput
from heedful.ragged import Ragged

Ids = Sequence[int]
Names = Sequence[str | None]  # None: a token that is no item
Tokenize = Callable[[str], Ids | tuple[Ids, Names]]


def encoded(texts: Sequence[str], tokenize: Tokenize) -> Texts:
    """Each token with a name is an item; names are the words of the text where there are as many, else the ids."""
    tokens, items, names = [], [], []
    for number, text in enumerate(texts):
        ids, called = _parts(tokenize(text), text, number)
        named = np.array([name is not None for name in called], dtype=bool)
        tokens.append(ids)
        items.append(np.where(named, np.cumsum(named) - 1, NO_ITEM))
        names.append(np.array([name for name in called if name is not None], dtype=object))
    return Texts(
        Ragged.from_rows(tokens, dtype=np.int64),
        Ragged.from_rows(items, dtype=np.int64),
        Ragged.from_rows(names, dtype=object),
    )


def _parts(made: Any, text: str, number: int) -> tuple[np.ndarray[Any, Any], Names]:
    """Ids and names of one text."""
    ids, names = made if isinstance(made, tuple) and len(made) == 2 and np.ndim(made[0]) == 1 else (made, None)
    array = np.asarray(ids)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise BadInput(f"text {number}: tokenize must return a list of token ids, or (ids, names); it returned {ids!r}")
    if names is None:
        words = text.split()
        names = words if len(words) == len(array) else [str(each) for each in array]
    if len(names) != len(array):
        raise BadInput(f"text {number}: tokenize returned {len(array)} ids and {len(names)} names; give a name each")
    return array.astype(np.int64), names
