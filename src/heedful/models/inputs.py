"""Inputs: what a model reads of some instances; their texts and, in question answering and inference, their queries."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heedful.models.grouping import Groups
from heedful.ragged import Indices, Ragged
from heedful.text.vocabulary import END, START, UNKNOWN

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Inputs:
    """Encoded texts, each perhaps with a question or hypothesis and with the classes that may be answered.

    Where the items are sentences, a text is a ragged row of words and a ragged row of the sentences' lengths.
    """

    tokens: Ragged  # (N,) word indices, without sentinels
    query: Ragged | None = None  # word indices
    candidates: Ragged | None = None  # class indices; None: every class
    sentences: Ragged | None = None  # how many words each sentence has; None: the items are words

    @classmethod
    def of(cls, texts: "Texts") -> "Inputs":
        """Texts alone are inputs without queries."""
        return texts if isinstance(texts, Inputs) else cls(texts)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def items(self) -> Ragged:
        """One value for each thing that is attended: a word, or a sentence."""
        return self.tokens if self.sentences is None else self.sentences

    @cached_property
    def groups(self) -> Groups:
        """Sentences in the order in which they are read."""
        return Groups.of(self.items)

    def take(self, rows: Indices) -> "Inputs":
        """The named instances, in the named order."""
        kept = (None if each is None else each.take(rows) for each in (self.query, self.candidates, self.sentences))
        return Inputs(self.tokens.take(rows), *kept)

    def shortened(self, deletions: Indices) -> "Inputs":
        """For each deleted item (its place in `items.values`) the instance it belongs to, without it."""
        rows = self.items.row_of_value[deletions]
        whole = self.take(rows)
        kept = np.ones(len(whole.items.values), dtype=bool)
        kept[whole.items.offsets[:-1] + deletions - self.items.offsets[rows]] = False
        return whole.keep(kept)

    def keep(self, items: Flags) -> "Inputs":
        """The same instances with some of their items only: those flagged in `items`, one an item."""
        words, sentences = items, None
        if self.sentences is not None:
            words = np.repeat(items, self.sentences.values)
            sentences = _kept(self.sentences, items)
        return Inputs(_kept(self.tokens, words), self.query, self.candidates, sentences)

    def unknown(self, items: Flags) -> "Inputs":
        """The same instances with the words of the flagged items replaced by `<unk>`."""
        words = items if self.sentences is None else np.repeat(items, self.sentences.values)
        return replace(self, tokens=self.tokens.like(np.where(words, UNKNOWN, self.tokens.values)))


def _kept(rows: Ragged, flags: Flags) -> Ragged:
    return Ragged.from_lengths(rows.values[flags], rows.like(flags).sum())


Texts = Ragged | Inputs


def with_sentinels(tokens: Ragged) -> Ragged:
    """Each sequence between a start and an end sentinel, as encoders read it."""
    lengths = tokens.lengths + 2
    values = np.empty(int(lengths.sum()), dtype=np.int64)
    framed = Ragged.from_lengths(values, lengths)
    starts, ends = framed.offsets[:-1], framed.offsets[1:] - 1
    inside = np.ones(len(values), dtype=bool)
    inside[starts] = inside[ends] = False
    values[starts], values[ends], values[inside] = START, END, tokens.values
    return framed
