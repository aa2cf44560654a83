"""Inputs of a model (texts, perhaps with queries) and padded batches of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heedful.ragged import Flags, Indices, Ragged, length_batches
from heedful.text.vocabulary import END, START, UNKNOWN

CELLS = 32_768  # padded words of a group: bounds the memory of long documents
ALIKE = 2.5  # a group's longest sentence to its shortest; fewer groups suit a GRU, more a CNN


@dataclass(frozen=True, eq=False)
class Padded:
    """Sequences of different lengths in one tensor; cells beyond a row's length are undefined."""

    values: Tensor  # (B, T, ...)
    lengths: Tensor  # (B,) int64

    @classmethod
    def of(cls, rows: Ragged) -> "Padded":
        """Pad a ragged batch with zeros."""
        values, _ = rows.pad()
        return cls(torch.from_numpy(values), torch.from_numpy(np.ascontiguousarray(rows.lengths)))

    @property
    def mask(self) -> Tensor:
        """True on real cells, (B, T)."""
        return torch.arange(self.values.shape[1]) < self.lengths[:, None]

    @property
    def full(self) -> bool:
        """Whether no cell is padding."""
        return bool((self.lengths == self.values.shape[1]).all())

    def with_values(self, values: Tensor) -> "Padded":
        """Other values for the same cells."""
        return replace(self, values=values)

    def zeroed(self) -> "Padded":
        """The same with zeros in the padding, for layers that look at neighbouring cells."""
        return self if self.full else self.with_values(self.values * self.mask[..., None])

    def reversed(self) -> "Padded":
        """Each sequence back to front within its own length; padding stays where it is. Its own inverse."""
        rows, width = self.values.shape[:2]
        positions = torch.arange(width)
        back = torch.where(self.mask, self.lengths[:, None] - 1 - positions, positions)  # (B, T)
        cells = (back + torch.arange(rows)[:, None] * width).flatten()  # (B * T,)
        return self.with_values(_Exchange.apply(self.values, cells))  # type: ignore[no-untyped-call]

    def inner(self) -> "Padded":
        """Without each sequence's first and last cell (the sentinels)."""
        return Padded(self.values[:, 1:-1], self.lengths - 2)


class _Exchange(torch.autograd.Function):
    """Cells in an order that is its own inverse, so that the gradient is exchanged the same way. Autograd would add
    gradients cell by cell, which takes 3 to 8 times as long."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, cells: Tensor) -> Tensor:
        ctx.save_for_backward(cells)
        return values.flatten(0, 1).index_select(0, cells).view_as(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (cells,) = ctx.saved_tensors
        return gradients[0].flatten(0, 1).index_select(0, cells).view_as(gradients[0]), None


class Groups(NamedTuple):
    """Sentences grouped by similar length, and where their words stand in that order; empty sentences are left out."""

    sentences: Indices  # (S,) in their new order
    words: Indices  # (N,) in their new order
    lengths: list[Indices]  # of the sentences of each group

    @classmethod
    def of(cls, sentences: Ragged) -> "Groups":
        """From the lengths of the sentences of documents."""
        lengths = sentences.values.astype(np.int64)
        filled = np.flatnonzero(lengths)
        batches = length_batches(lengths[filled], rows=CELLS, cells=CELLS, alike=ALIKE)
        order = filled[np.concatenate(batches)] if batches else filled
        words = Ragged.from_lengths(np.empty(int(lengths.sum()), dtype=np.bool_), lengths).cells(order)
        return cls(order, words, [lengths[filled[batch]] for batch in batches])

    def padded(self, vectors: Tensor) -> Iterator[Padded]:
        """The word vectors (N, E), in the new order, of each group of sentences, (S, T, E)."""
        parts = torch.split(vectors, [int(lengths.sum()) for lengths in self.lengths])
        for part, lengths in zip(parts, map(torch.from_numpy, self.lengths), strict=True):
            width = int(lengths.max())
            places = (torch.arange(width) < lengths[:, None]).flatten().nonzero().squeeze(1)
            values = part.new_zeros(width * len(lengths), part.shape[1]).index_copy(0, places, part)
            yield Padded(values.view(len(lengths), width, -1), lengths)


@dataclass(frozen=True, eq=False)
class Inputs:
    """Encoded texts, each perhaps with a question or hypothesis and with the classes that may be answered. Where the
    items are sentences, a text is a ragged row of words and a ragged row of the sentences' lengths."""

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
        """One value for each attended item: a word, or a sentence."""
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

    def swapped(self, places: Ragged, donors: "Inputs", given: Indices, taken: Ragged) -> "Inputs":
        """The same instances with some items, those at `places` of each, replaced one by one by items of other texts:
        those at the places `taken` of the donors `given`, (n,). Queries and candidates stay."""
        own, theirs = self.items, donors.items
        source = np.arange(len(own.values))  # of each item, among our own and then the donors'
        cells = own.offsets[:-1][places.row_of_value] + places.values
        source[cells] = len(source) + theirs.offsets[:-1][given[taken.row_of_value]] + taken.values
        words = np.concatenate([self.tokens.values, donors.tokens.values])
        if self.sentences is None:
            return replace(self, tokens=self.tokens.like(words[source]))
        lengths = np.concatenate([own.values, theirs.values])
        sentences = own.like(lengths[source])
        tokens = Ragged.from_lengths(words, lengths).take(source).values
        return replace(self, tokens=Ragged.from_lengths(tokens, sentences.sum()), sentences=sentences)


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
