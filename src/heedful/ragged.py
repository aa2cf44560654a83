"""Ragged: rows of different lengths as one array of values and their offsets; how a batch of sequences travels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]  # of instances, for their random numbers


Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Rows of different lengths: row i is `values[offsets[i]:offsets[i + 1]]`.

    >>> rows = Ragged.from_rows([[1, 2, 3], [4]])
    >>> rows.lengths.tolist(), rows[0].tolist()
    ([3, 1], [1, 2, 3])
    """

    values: NDArray[Any]  # (N, ...), N = sum of lengths
    offsets: Indices  # (n + 1,)

    def __post_init__(self) -> None:
        offsets = self.offsets
        if offsets.ndim != 1 or len(offsets) == 0 or offsets[0] != 0 or np.any(np.diff(offsets) < 0):
            raise ValueError("offsets must start at 0 and never fall")
        if offsets[-1] != len(self.values):
            raise ValueError(f"offsets end at {offsets[-1]}, but there are {len(self.values)} values")

    @classmethod
    def from_rows(cls, rows: Iterable[ArrayLike], dtype: DTypeLike | None = None) -> "Ragged":
        """Join rows end to end."""
        arrays = [np.asarray(row, dtype=dtype) for row in rows]
        lengths = [len(array) for array in arrays]
        filled = [array for array in arrays if len(array)]
        values = np.concatenate(filled) if filled else np.empty(0, dtype=dtype or np.float64)
        return cls.from_lengths(values, lengths)

    @classmethod
    def from_lengths(cls, values: Array, lengths: ArrayLike) -> "Ragged":
        """Cut `values` into rows of the given lengths."""
        return cls(values, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64))

    @classmethod
    def from_padded(cls, padded: Array, mask: NDArray[np.bool_]) -> "Ragged":
        """The real cells of a padded array; the inverse of `pad`."""
        return cls.from_lengths(padded[mask], mask.sum(axis=1))

    def __repr__(self) -> str:
        return f"Ragged({len(self):,} rows, {len(self.values):,} values of {self.values.dtype})"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[Any]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        index %= len(self)
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> Indices:
        """The length of each row, (n,)."""
        return np.diff(self.offsets)

    @property
    def row_of_value(self) -> Indices:
        """For each value the row it stands in, (N,)."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def place_in_row(self) -> Indices:
        """For each value its place in its row, (N,)."""
        return np.arange(len(self.values)) - self.offsets[self.row_of_value]

    def like(self, values: Array) -> "Ragged":
        """Other values cut into rows the same way."""
        return Ragged(values, self.offsets)

    def slice(self, start: int, stop: int) -> "Ragged":
        """Rows start..stop as a view, without copying; bounds count as in any Python slice."""
        start, stop, _ = slice(start, stop).indices(len(self))
        offsets = self.offsets[start : max(start, stop) + 1]
        return Ragged(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])

    def take(self, rows: Sequence[int] | Indices) -> "Ragged":
        """The named rows, in the named order; negative numbers count from the end, a mask picks where it is true."""
        chosen = np.asarray(rows) if len(rows) else np.empty(0, dtype=np.int64)
        named = np.arange(len(self))[chosen]
        return Ragged.from_lengths(self.values[self.cells(named)], self.lengths[named])

    def cells(self, rows: Indices) -> Indices:
        """Where in `values` the values of the named rows stand, row after row."""
        lengths = self.lengths[rows]
        starts = np.repeat(self.offsets[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        return starts + np.arange(len(starts))

    def sum(self) -> NDArray[Any]:
        """The sum of each row, (n, ...); an empty row sums to zero. Truth values are counted."""
        return self._reduce(np.add, np.add.reduce(self.values[:1], axis=0).dtype)

    def max(self) -> NDArray[Any]:
        """The largest value of each row, (n, ...); every row must have one."""
        if np.any(self.lengths == 0):
            raise ValueError("an empty row has no maximum")
        return self._reduce(np.maximum, self.values.dtype)

    def argmax(self) -> Indices:
        """Where in `values` each row's largest value stands, the first one on ties, (n,); every row must have one."""
        rows = self.row_of_value
        largest = np.flatnonzero(self.values == self.max()[rows])
        return largest[np.searchsorted(rows[largest], np.arange(len(self)))]

    def pad(self, fill: float = 0) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Padded values (n, T, ...) and the mask of real cells (n, T), T the longest row."""
        lengths = self.lengths
        width = int(lengths.max(initial=0))
        mask = np.arange(width) < lengths[:, None]  # (n, T)
        padded = np.full((len(self), width, *self.values.shape[1:]), fill, dtype=self.values.dtype)
        padded[mask] = self.values
        return padded, mask

    def _reduce(self, operation: np.ufunc, dtype: np.dtype[Any]) -> NDArray[Any]:
        result = np.zeros((len(self), *self.values.shape[1:]), dtype=dtype)
        filled = self.lengths > 0
        if filled.any():  # reduceat gives a neighbour's value for an empty row, so only filled rows go in
            result[filled] = operation.reduceat(self.values, self.offsets[:-1][filled], axis=0, dtype=dtype)
        return result


def length_batches(
    lengths: Indices, *, rows: int, cells: int | None = None, alike: float | None = None
) -> list[Indices]:
    """Rows of similar length together: at most `rows` a batch and at most `cells` padded cells (one row at least), the
    longest at most `alike` times as long as the shortest."""
    order = np.argsort(lengths, kind="stable")
    batches: list[Indices] = []
    start = 0
    for stop in range(1, len(order) + 1):
        if stop < len(order):
            length, count = int(lengths[order[stop]]), stop - start
            full = count >= rows or (cells is not None and length * (count + 1) > cells)
            full = full or (alike is not None and length > alike * int(lengths[order[start]]))
        if stop == len(order) or full:
            batches.append(order[start:stop])
            start = stop
    return batches
