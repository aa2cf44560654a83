"""The rows of attention that a classifier decides from: what the audited map shows and what changes reach.

A classifier looks at the states of its first token, or of its last one, or at the mean of all. In the first two cases
the map is that token's row of attention. A mean has no row of its own: then the map is the mean of all tokens' rows,
and a change is made to each of them.
"""

from typing import NamedTuple

import torch
from torch import Tensor

FIRST, LAST, ALL = "first", "last", "all"


class Rows(NamedTuple):
    """The classifying rows of a batch of texts."""

    place: Tensor | None  # (B,): the row of each text; None: all rows
    shares: Tensor  # (B, Q): how much each of these rows counts; Q = 1, or L for all rows

    def of(self, weights: Tensor) -> Tensor:
        """Those rows of the weights (B, H, L, L): (B, H, Q, L)."""
        if self.place is None:
            return weights
        return weights[torch.arange(len(weights), device=weights.device), :, self.place, None]

    def placed(self, rows: Tensor, whole: Tensor) -> Tensor:
        """The whole (B, L, ...) with those rows (B, Q, ...) put in."""
        if self.place is None:
            return rows
        return whole.index_put((torch.arange(len(whole), device=whole.device), self.place), rows[:, 0])

    def start(self, width: int) -> Tensor:
        """The shares as a distribution over all rows, (B, L)."""
        if self.place is None:
            return self.shares
        return self.shares.new_zeros(len(self.place), width).scatter(1, self.place[:, None], self.shares)


def rows_of(pooling: str, tokens: Tensor, real: Tensor, padding: int, dtype: torch.dtype) -> Rows:
    """The classifying rows of tokens (B, L) padded on the right; shares are of that type."""
    if pooling == ALL:
        return Rows(None, real.to(dtype) / real.sum(dim=1, keepdim=True))
    place = torch.zeros(len(tokens), dtype=torch.int64, device=tokens.device)
    if pooling == LAST:  # as transformers looks for it: the rightmost token that is not the padding token
        places = torch.arange(tokens.shape[1], device=tokens.device)
        place = (places * (tokens != padding)).argmax(dim=1)
    return Rows(place, torch.ones(len(tokens), 1, dtype=dtype, device=tokens.device))


def pooling_of(slopes: Tensor, real: Tensor) -> str | None:
    """Which tokens a model decides from, told by the slopes (B, L) of its logits; None: some other ones."""
    used = slopes > 0
    first, last = torch.zeros_like(used), torch.zeros_like(used)
    first[:, 0] = True
    last[torch.arange(len(real)), real.sum(dim=1) - 1] = True
    for name, pattern in ((FIRST, first), (LAST, last), (ALL, real)):
        if torch.equal(used, pattern):
            return name
    return None
