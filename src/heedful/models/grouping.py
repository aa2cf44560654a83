"""Sentences of all documents of a batch in groups of similar length: no cube of documents, sentences and words."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heedful.models.padded import Padded
from heedful.ragged import Indices, Ragged, length_batches

CELLS = 32_768  # padded words of a group: bounds the memory of long documents
ALIKE = 2.5  # a group's longest sentence to its shortest; fewer groups suit a GRU, more a CNN


class Groups(NamedTuple):
    """Where the words of sentences stand if these are put in the order of their groups; empty ones are left out."""

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
