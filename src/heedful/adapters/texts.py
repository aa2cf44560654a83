"""Texts as an audited model reads them: tokens, and the items that an audit reports on.

An item is a token, or a word of several tokens. Tokens that a tokenizer adds (the classification token, separators)
belong to no item: they are not shown, and cannot be erased.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.ragged import Indices, Ragged

Flags = NDArray[np.bool_]

NO_ITEM = -1


@dataclass(frozen=True, eq=False)
class Texts:
    """Encoded texts and their items."""

    tokens: Ragged  # (M,) int64: what the model reads of each text
    item: Ragged  # (M,) int64, never falling: the item of its text that each token belongs to, or NO_ITEM
    names: Ragged  # (N,) of strings: what each item is called

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def lengths(self) -> Indices:
        """How many items each text has, (n,)."""
        return self.names.lengths

    def take(self, rows: Sequence[int] | Indices) -> "Texts":
        """The named texts, in the named order."""
        return Texts(self.tokens.take(rows), self.item.take(rows), self.names.take(rows))

    def slice(self, start: int, stop: int) -> "Texts":
        """Texts start..stop."""
        return Texts(*(rows.slice(start, stop) for rows in (self.tokens, self.item, self.names)))

    def keep(self, items: Flags) -> "Texts":
        """The same texts with some of their items only: those flagged in `items`, (N,)."""
        stays = ~self.of_items(~items)
        place = np.append(np.cumsum(items) - 1, 0)  # among all items that are kept; NO_ITEM picks the last one
        kept = self.names.like(items).sum()  # (n,)
        first = np.concatenate([[0], np.cumsum(kept)[:-1]])
        rows, cells = self.tokens.row_of_value[stays], self._cells[stays]
        item = np.where(cells == NO_ITEM, NO_ITEM, place[cells] - first[rows])
        counts = self.tokens.like(stays).sum()
        return Texts(
            Ragged.from_lengths(self.tokens.values[stays], counts),
            Ragged.from_lengths(item, counts),
            Ragged.from_lengths(self.names.values[items], kept),
        )

    def replaced(self, items: Flags, token: int) -> "Texts":
        """The same texts with every token of the flagged items (N,) replaced by one that says nothing."""
        values = np.where(self.of_items(items), token, self.tokens.values)
        return Texts(self.tokens.like(values), self.item, self.names)

    def swapped(self, places: Ragged, donors: "Texts", given: Indices, taken: Ragged) -> "Texts":
        """The same texts with some items, those at `places` of each text, replaced one by one by items of other texts:
        those at the places `taken` of the donors `given`, (n,)."""
        tokens, item, names = [], [], []
        for row in range(len(self)):
            pieces, words = self._pieces(row), self.names[row].tolist()
            theirs, other = donors._pieces(given[row]), donors.names[given[row]]
            for place, source in zip(places[row], taken[row], strict=True):
                pieces[place], words[place] = theirs[source], other[source]
            before, cells = _runs(self.item[row])
            joined = [self.tokens[row][start:stop] if each == NO_ITEM else pieces[each] for each, start, stop in before]
            tokens.append(np.concatenate([np.empty(0, dtype=np.int64), *joined]))
            item.append(np.repeat(cells, [len(piece) for piece in joined]))
            names.append(words)
        return Texts(
            Ragged.from_rows(tokens, dtype=np.int64),
            Ragged.from_rows(item, dtype=np.int64),
            Ragged.from_rows(names, dtype=self.names.values.dtype if self.names.values.dtype == object else None),
        )

    def _pieces(self, row: int) -> list[Indices]:
        """The tokens of each item of a text."""
        return [self.tokens[row][self.item[row] == place] for place in range(self.lengths[row])]

    def of_items(self, items: Flags) -> Flags:
        """Which tokens belong to flagged items, (M,)."""
        cells = self._cells
        return np.asarray((cells != NO_ITEM) & np.append(items, False)[cells])  # NO_ITEM picks the last one

    @property
    def _cells(self) -> Indices:
        """Where each token's item stands among all items, or NO_ITEM, (M,)."""
        places = self.item.values + self.names.offsets[:-1][self.tokens.row_of_value]
        return np.asarray(np.where(self.item.values == NO_ITEM, NO_ITEM, places))


def _runs(item: Indices) -> tuple[list[tuple[int, int, int]], Indices]:
    """Runs of tokens of the same item, or of none: (item, start, stop) each; and the items alone."""
    starts = np.flatnonzero(np.diff(item, prepend=item[:1] - 1)) if len(item) else np.empty(0, dtype=np.int64)
    stops = np.append(starts[1:], len(item))
    cells = item[starts]
    return list(zip(cells.tolist(), starts.tolist(), stops.tolist(), strict=True)), cells


def each_token_an_item(tokens: Ragged, names: Ragged) -> Texts:
    """Texts without added tokens whose tokens are their items."""
    return Texts(tokens, tokens.like(tokens.place_in_row), names)
