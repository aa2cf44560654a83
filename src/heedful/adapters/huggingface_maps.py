"""The maps of a transformer that can be audited: which layers and heads each is made of, and how.

| map | made of |
|---|---|
| `cls` | the classifying row of the last layer, mean of its heads |
| `layer:L` | the same of any layer; a negative number counts from the end |
| `layer:L,head:H` | one head |
| `rollout` | all layers: what flows to the classifying row through them (Abnar & Zuidema 2020) |
| `norm` | the last layer: the length of what each token adds to the classifying row (Kobayashi et al. 2020) |
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heedful.errors import BadConfig

KINDS = ("cls", "rollout", "norm")
_LAYER = re.compile(r"layer:(-?\d+)(?:,head:(-?\d+))?")


class Map(NamedTuple):
    """What a map is made of."""

    kind: str  # one of KINDS
    layers: range
    head: int | None  # None: all

    @property
    def heads(self) -> slice:
        """The heads that it is made of and that changes reach."""
        return slice(None) if self.head is None else slice(self.head, self.head + 1)


def checked(name: str) -> str:
    """The name of a map, if it is one."""
    if name in KINDS or _LAYER.fullmatch(name):
        return name
    raise BadConfig(f"unknown map {name!r}; valid: {', '.join(KINDS)}, layer:L, layer:L,head:H (as in layer:-1,head:0)")


def parsed(name: str, heads: Sequence[int]) -> Map:
    """The map of that name in a model whose layers have so many heads each."""
    if match := _LAYER.fullmatch(name):
        layer = _place(int(match[1]), len(heads), "layer", name)
        head = None if match[2] is None else _place(int(match[2]), heads[layer], "head", name)
        return Map("cls", range(layer, layer + 1), head)
    return Map(name, range(len(heads)) if name == "rollout" else range(len(heads) - 1, len(heads)), None)


def _place(number: int, count: int, what: str, name: str) -> int:
    if not -count <= number < count:
        raise BadConfig(f"map {name!r}: no {what} {number}; there are {count}, so give {-count} to {count - 1}")
    return number % count


def mean_of_rows(rows: Tensor, shares: Tensor) -> Tensor:
    """Rows of weights (B, H, Q, L), each query's by its share (B, Q), mean of the heads: (B, L)."""
    return torch.einsum("bhql,bq->bl", rows, shares) / rows.shape[1]


def rolled_out(matrices: Sequence[Tensor], start: Tensor) -> Tensor:
    """Attention rollout, (B, L): layers' weights (B, L, L), first layer first, and the row to start from (B, L).

    Half of what flows passes a layer by, on the residual connection. Only one row is asked for, so each layer takes one
    product of a vector and a matrix: L T^2 instead of the L T^3 of whole rollout matrices.
    """
    flow = start
    for weights in reversed(matrices):
        flow = flow / (1 + weights.sum(dim=-1))  # rows of weights + identity sum to this
        flow = flow + torch.einsum("bq,bql->bl", flow, weights)
    return flow


def normed(rows: Tensor, values: Tensor, projection: Tensor, shares: Tensor) -> Tensor:
    """Norm-weighted attention, (B, L), summing to one: |sum over heads of weight . value . projection|.

    Rows (B, H, Q, L), values (B, H, L, D), the output projection (H . D, W) and the queries' shares (B, Q). What heads
    add up to is measured by the inner products of each token's projected values: (B, L, H, H) instead of (B, Q, L, W).
    """
    heads, width = values.shape[1], values.shape[3]
    projected = torch.einsum("bhld,hdw->blhw", values, projection.view(heads, width, -1))
    products = torch.einsum("blhw,blgw->blhg", projected, projected)
    squares = torch.einsum("bhql,blhg,bgql->bql", rows, products, rows)
    lengths = torch.einsum("bql,bq->bl", squares.clamp(min=0).sqrt(), shares)
    return lengths / lengths.sum(dim=-1, keepdim=True)
