"""Measures of importance, and what they need of a model.

Each measure is written once, against `Instances`: our classifiers (`classifier_texts.py`) and audited models
(`heedful.audits.battery.subject_texts`) both offer that.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.models.decoders import output_of
from heedful.ragged import Flags, Indices, Ragged

Outputs = NDArray[np.floating[Any]]

GRADIENT = 3  # forward passes that one with its gradient takes as long as: backward takes twice as long as forward


class Measured(NamedTuple):
    """Importance of all items of some texts."""

    values: Ragged  # (N,), or (N, K) with one value for each output
    error: NDArray[np.float32] | None = None  # (n,): the measure's own estimate of its error


@dataclass(frozen=True)
class Measure:
    """A measure of importance. `values` takes instances and the tolerance of integrals."""

    values: Callable[["Instances", float], Measured]  # as tables report them
    signed: Callable[["Instances", Measured], Ragged] | None = None  # (N,): attribution to the decided class's
    # probability, from what was measured
    blank: bool = False  # whether it replaces items by a token that stands for nothing


class Outcome(NamedTuple):
    """Logits and their vector-Jacobian product."""

    logits: Tensor  # (B, K)
    product: Callable[[Tensor], Tensor]  # gradient of the logits (B, K) to each item . its gradient (B, T)


class Read(Protocol):
    """Reads some rows of a batch (P,) with their embeddings scaled by shares (P,); by default all rows, unscaled."""

    def __call__(self, rows: Tensor | None = None, shares: Tensor | None = None) -> Outcome:
        """Run the model."""


class Batch(NamedTuple):
    """Some texts whose outputs can be differentiated."""

    rows: Indices  # (B,)
    cells: Indices  # where the rows' items stand among all items, row after row
    real: Tensor  # (B, T): which cells of the padded batch are items
    read: Read
    width: int  # cells that reading one row takes at most


class Deletions(NamedTuple):
    """Outputs of texts as they are and without each item."""

    whole: Outputs  # (n, K)
    without: Ragged  # (N, K)
    error: NDArray[np.float32] | None = None  # (n,): largest TVD from the exact outputs, at sampled items; None: exact

    @classmethod
    def of_logits(cls, items: Ragged, whole: Tensor, without: Tensor) -> "Deletions":
        """From logits (B, K) and (B, T, K), padded as the items are."""
        mask = torch.from_numpy(np.arange(without.shape[1]) < items.lengths[:, None])
        return cls(output_of(whole).numpy(), items.like(output_of(without[mask]).numpy()))


class Erasable(Protocol):
    """Texts whose items can be erased."""

    @property
    def items(self) -> Ragged:
        """One value for each item."""

    @property
    def words(self) -> Indices:
        """Words to read per text, (n,)."""

    @property
    def output(self) -> Outputs:
        """Outputs (n, K)."""

    def erased(self, rows: Indices, gone: Flags, way: str) -> Outputs:
        """Outputs (M, K) of texts (M,) without their flagged items, which are given text after text."""


class Instances(Erasable, Protocol):
    """Texts of a model, as measures of importance read them."""

    @property
    def outputs(self) -> int:
        """Logits per text; 1: a sigmoid."""

    @property
    def decided_only(self) -> bool:
        """Whether gradients are of the decided output alone: there may be hundreds."""

    @property
    def ways(self) -> tuple[str, ...]:
        """Ways to erase items: deleting them first and, where a token stands for nothing, replacing them by it."""

    def differentiable(self, *, attention_fixed: bool) -> Iterable[Batch]:
        """All texts that have items, in batches."""

    def without_each(self, way: str) -> Deletions:
        """Outputs with each item erased in that way."""


def output_slope(logits: Tensor, which: Tensor) -> Tensor:
    """Gradient of one output of each row, `which` (B,), with respect to the logits, (B, K). One minus an output is the
    sum of the others: as a difference it would vanish where the model is sure."""
    if logits.shape[1] == 1:
        return torch.sigmoid(logits) * torch.sigmoid(-logits)
    output, place = logits.softmax(dim=1), which[:, None]
    others = output.scatter(1, place, 0.0)
    return output.gather(1, place) * (-others).scatter(1, place, others.sum(dim=1, keepdim=True))


def chunks(lengths: Indices, limit: int) -> Iterator[Indices]:
    """Consecutive texts of about so many words together, by their lengths (n,): bounds memory."""
    ends = np.cumsum(lengths) // limit
    return (some for some in np.split(np.arange(len(lengths)), np.flatnonzero(np.diff(ends)) + 1) if len(some))
