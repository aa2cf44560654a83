"""Texts cut by a user's own tokenizer."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.adapters.foreign import foreign
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.errors import BadConfig, BadInput
from heedful.ragged import Ragged

Ids = Sequence[int]
Names = Sequence[str | None]  # None: a token that is no item
Tokenize = Callable[[str], Ids | tuple[Ids, Names]]


def encoded(texts: Sequence[str], tokenize: Tokenize, known: int | None = None) -> Texts:
    """Each token with a name is an item; names are the words of the text where there are as many, else the ids.

    A model that knows so many tokens gets no other one.
    """
    tokens, items, names = [], [], []
    for number, text in enumerate(texts):
        with foreign(f"the tokenizer, on text {number} ({text[:40]!r}),", "call it by hand to see where"):
            made = tokenize(text)
        ids, called = _parts(made, text, number)
        named = np.array([name is not None for name in called], dtype=bool)
        unknown = ids[_strange(ids, known)]
        if len(unknown):
            raise BadInput(
                f"text {number}: token {unknown[0]} is none of the model, which {_embeds(known)}; use its own tokenizer"
            )
        tokens.append(ids)
        items.append(np.where(named, np.cumsum(named) - 1, NO_ITEM))
        names.append(np.array([name for name in called if name is not None], dtype=object))
    return Texts(
        Ragged.from_rows(tokens, dtype=np.int64),
        Ragged.from_rows(items, dtype=np.int64),
        Ragged.from_rows(names, dtype=object),
    )


def check_token(option: str, token: int, known: int | None) -> None:
    """An option that names a token must name one that the model knows."""
    if _strange(np.array([token]), known).any():
        raise BadConfig(f"{option}={token}: the model {_embeds(known)}; give one of these")


def _strange(tokens: NDArray[np.int64], known: int | None) -> NDArray[np.bool_]:
    """Which tokens the model has no vector for, as far as is known."""
    return np.asarray((tokens < 0) | (tokens >= (np.inf if known is None else known)))


def _embeds(known: int | None) -> str:
    return "embeds tokens from 0 on" if known is None else f"embeds {known} tokens, 0 to {known - 1}"


def _parts(made: Any, text: str, number: int) -> tuple[NDArray[np.int64], Names]:
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
