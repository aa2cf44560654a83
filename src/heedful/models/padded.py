"""Padded: the only form in which sequences meet a network, always together with their lengths."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heedful.ragged import Ragged


@dataclass(frozen=True, eq=False)
class Padded:
    """Sequences of different lengths in one tensor; cells beyond a row's length mean nothing."""

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
    """Cells in an order that is its own inverse, so that the gradient is exchanged the same way.

    Autograd would add gradients up cell by cell, which took 3 to 8 times as long.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, cells: Tensor) -> Tensor:
        ctx.save_for_backward(cells)
        return values.flatten(0, 1).index_select(0, cells).view_as(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (cells,) = ctx.saved_tensors
        return gradients[0].flatten(0, 1).index_select(0, cells).view_as(gradients[0]), None
