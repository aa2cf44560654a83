"""What a model says of some instances, and how that changes with what they are made of."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from heedful.ragged import Indices


class Outcome(NamedTuple):
    """Logits, and the way back from them."""

    logits: Tensor  # (B, K)
    product: Callable[[Tensor], Tensor]  # gradient of the logits (B, K) to each item . its gradient (B, T)


class Read(Protocol):
    """Reads some rows of a batch (P,) with their items shrunk to shares (P,); without either, all rows as they are."""

    def __call__(self, rows: Tensor | None = None, shares: Tensor | None = None) -> Outcome:
        """What the model says."""


class Batch(NamedTuple):
    """Some instances whose outcome can be told."""

    rows: Indices  # (B,)
    cells: Indices  # where the rows' items stand among all items, row after row
    real: Tensor  # (B, T): which cells of the padded batch are items
    read: Read
    width: int  # cells that reading one row takes at most


def output_slope(logits: Tensor, which: Tensor) -> Tensor:
    """Gradient of one output of each row, `which` (B,), with respect to the logits, (B, K).

    One minus an output is summed up from the others: as a difference it would vanish where the model is sure.
    """
    if logits.shape[1] == 1:
        return torch.sigmoid(logits) * torch.sigmoid(-logits)
    output, place = logits.softmax(dim=1), which[:, None]
    others = output.scatter(1, place, 0.0)
    return output.gather(1, place) * (-others).scatter(1, place, others.sum(dim=1, keepdim=True))
