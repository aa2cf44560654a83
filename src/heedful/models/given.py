"""Given: what attention and decoder know of each instance beside its states."""

from typing import NamedTuple

from torch import Tensor


class Given(NamedTuple):
    """In classification nothing; else the query, and perhaps which classes may be answered."""

    query: Tensor | None = None  # (B, H)
    candidates: Tensor | None = None  # (B, K) bool; None: every class

    def take(self, rows: Tensor) -> "Given":
        """What is given of the named rows, in the named order."""
        return Given(*(None if values is None else values.index_select(0, rows) for values in self))
