"""Batches as a model can read them: padding is its own, and every text has a token."""

from typing import NamedTuple

import torch
from torch import Tensor

from heedful.adapters.subject import Padded
from heedful.adapters.texts import NO_ITEM


class Filled(NamedTuple):
    """A batch as a model reads it."""

    tokens: Tensor  # (B, L), L at least 1
    real: Tensor  # (B, L), one at least in each row
    item: Tensor  # (B, L)
    void: Tensor  # (B,): texts without any token of their own


def filled(batch: Padded, *, pad: int, blank: int | None) -> Filled:
    """A text without any token becomes a single `blank` one, or a `pad` one that counts as real."""
    void = ~batch.real.any(dim=1)
    tokens, real, item = batch.tokens.where(batch.real, pad), batch.real, batch.item
    if void.any():
        if not tokens.shape[1]:
            column = torch.zeros(len(void), 1, dtype=torch.int64)
            tokens, real, item = column, column.bool(), column + NO_ITEM
        here = void[:, None] & (torch.arange(tokens.shape[1]) == 0)
        tokens = tokens.masked_fill(here, pad if blank is None else blank)
        real = real | here
    return Filled(tokens, real, item, void)
