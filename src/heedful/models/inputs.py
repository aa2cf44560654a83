"""Inputs: what a model reads of some instances; their texts and, in question answering and inference, their queries."""

from dataclasses import dataclass

import numpy as np

from heedful.ragged import Indices, Ragged
from heedful.text.vocabulary import END, START


@dataclass(frozen=True, eq=False)
class Inputs:
    """Encoded texts, each perhaps with a question or hypothesis and with the classes that may be answered."""

    tokens: Ragged  # (N,) word indices, without sentinels
    query: Ragged | None = None  # word indices
    candidates: Ragged | None = None  # class indices; None: every class

    @classmethod
    def of(cls, texts: "Texts") -> "Inputs":
        """Texts alone are inputs without queries."""
        return texts if isinstance(texts, Inputs) else cls(texts)

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, rows: Indices) -> "Inputs":
        """The named instances, in the named order."""
        query = None if self.query is None else self.query.take(rows)
        candidates = None if self.candidates is None else self.candidates.take(rows)
        return Inputs(self.tokens.take(rows), query, candidates)

    def shortened(self, deletions: Indices) -> "Inputs":
        """For each deleted token (its place in `tokens.values`) the instance it belongs to, without it."""
        rows = self.tokens.row_of_value[deletions]
        whole = self.take(rows)
        texts = whole.tokens
        kept = np.ones(len(texts.values), dtype=bool)
        kept[texts.offsets[:-1] + deletions - self.tokens.offsets[rows]] = False
        return Inputs(Ragged.from_lengths(texts.values[kept], texts.lengths - 1), whole.query, whole.candidates)


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
