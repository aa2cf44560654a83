"""Texts as a tokenizer of transformers cuts them, with items that people can read."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from heedful.adapters.texts import NO_ITEM, Texts
from heedful.errors import BadConfig, BadInput, unknown_name
from heedful.ragged import Ragged

ITEMS = ("tokens", "words")


class Tokens:
    """Encodes texts: whole, with the tokens that the tokenizer adds around them."""

    def __init__(self, tokenizer: Any, *, items: str, vocabulary: int) -> None:
        if items not in ITEMS:
            raise unknown_name("items", items, ITEMS)
        if not getattr(tokenizer, "is_fast", False):
            raise BadConfig(
                f"{type(tokenizer).__name__} cannot tell which part of a text each token stands for: give a fast "
                "tokenizer (transformers' AutoTokenizer loads one where there is one)"
            )
        if len(tokenizer) <= len(set(tokenizer.all_special_ids)):  # transformers makes one of nothing, without a word
            raise BadInput("the tokenizer knows only special tokens: its files are missing; save them beside the model")
        self.tokenizer, self.items, self.vocabulary = tokenizer, items, vocabulary

    def encode(self, texts: Sequence[str]) -> Texts:
        """Tokens and items of each text."""
        if not texts:
            nothing = Ragged.from_rows([], dtype=np.int64)
            return Texts(nothing, nothing, Ragged.from_rows([], dtype=object))
        types = "token_type_ids" in self.tokenizer.model_input_names
        parts = {"return_offsets_mapping": True, "return_special_tokens_mask": True, "return_token_type_ids": types}
        coded = self.tokenizer(list(texts), truncation=False, padding=False, verbose=False, **parts)
        items, names = zip(*(self._items(text, coded, row) for row, text in enumerate(texts)), strict=True)
        tokens = Ragged.from_rows(coded["input_ids"], dtype=np.int64)
        self._fits(tokens, texts)
        if types and any(map(any, coded["token_type_ids"])):
            raise BadInput("the tokenizer marks tokens of single texts as of a second kind; an audit cannot tell these")
        return Texts(tokens, Ragged.from_rows(items, dtype=np.int64), Ragged.from_rows(names, dtype=object))

    def _items(self, text: str, coded: Any, row: int) -> tuple[list[int], list[str]]:
        """The item of each token, and the items' names."""
        spans, words = coded["offset_mapping"][row], coded.word_ids(row)
        places = [place for place, added in enumerate(coded["special_tokens_mask"][row]) if not added]
        joined = [False] + [
            self.items == "words" and _joined(text, spans[before], spans[place], words[before] == words[place])
            for before, place in pairwise(places)
        ]
        item = [NO_ITEM] * len(spans)
        starts: list[tuple[int, int]] = []  # the first token of each item, and where its text begins
        ends: list[int] = []
        for place, goes_on in zip(places, joined, strict=False):
            if not goes_on:
                starts.append((place, spans[place][0]))
                ends.append(0)
            item[place] = len(starts) - 1
            ends[-1] = spans[place][1]
        names = [
            _readable(text[start:end]) or self._spelt(coded["input_ids"][row][place])
            for (place, start), end in zip(starts, ends, strict=True)
        ]
        return item, names

    def _spelt(self, token: int) -> str:
        """A token that stands for no part of the text, as the tokenizer itself would print it."""
        known = self.tokenizer.convert_ids_to_tokens(token)
        return _readable(self.tokenizer.convert_tokens_to_string([known])) or str(known)

    def _fits(self, tokens: Ragged, texts: Sequence[str]) -> None:
        beyond = np.flatnonzero(tokens.values >= self.vocabulary)
        if len(beyond):
            first = beyond[0]
            row, token = int(tokens.row_of_value[first]), int(tokens.values[first])
            raise BadInput(
                f"tokenizer and model do not belong together: token {self.tokenizer.convert_ids_to_tokens(token)!r} of "
                f"text {row} ({texts[row][:40]!r}) has number {token}, but the model knows {self.vocabulary} tokens"
            )


def _joined(text: str, before: tuple[int, int], span: tuple[int, int], same: bool) -> bool:
    """Whether a token goes on with the word of the one before. Some tokenizers know of words; those that take a text as
    a whole say that all is one word, so white space parts words, too."""
    between, own = text[before[1] : span[0]], text[span[0] : span[1]]
    return same and not any(map(str.isspace, between)) and not own[:1].isspace()


def _readable(text: str) -> str:
    """Text without the space around it; where there is nothing else, the space made visible."""
    return text.strip() or repr(text)[1:-1].replace(" ", "␣")
