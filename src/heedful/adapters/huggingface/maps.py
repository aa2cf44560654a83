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
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from heedful.errors import BadConfig
from heedful.registry import Registry

if TYPE_CHECKING:
    from heedful.adapters.huggingface import HuggingFace

FIRST, LAST, ALL = "first", "last", "all"  # the tokens that a model decides from
_LAYER = re.compile(r"layer:(-?\d+)(?:,head:(-?\d+))?")


class Layer(NamedTuple):
    """Attention of one audited layer, changes included."""

    weights: Tensor | None  # (B, H, L, L): all rows, as they were before a change; None: only the rows are replayed
    rows: Tensor  # (B, H, Q, L): the classifying rows, after it
    values: Tensor  # (B, H, L, D)
    classifying: "Rows"  # which rows these are, and their shares
    heads: slice  # those that the map is made of
    projection: Tensor | None  # (H . D, W) of the layer's output, where the map asks for it


class Size(NamedTuple):
    """What memory depends on."""

    tokens: int
    layers: int
    heads: int
    width: int


class Kind(NamedTuple):
    """A kind of map: what is kept of each of its layers, and how that becomes weights of tokens (B, L)."""

    layer: Callable[[Layer], Tensor]
    combined: Callable[[Sequence[Tensor], "Rows"], Tensor] = lambda kept, _: kept[0]
    all_layers: bool = False  # made of all layers; else of the last one
    projection: bool = False  # needs the output projection of attention
    numbers: Callable[[Size], int] = lambda _: 0  # kept beside what the model itself computes, per text


class Map(NamedTuple):
    """A map of one model."""

    kind: Kind
    layers: range
    head: int | None  # None: all

    @property
    def heads(self) -> slice:
        """The heads that it is made of and that changes reach."""
        return slice(None) if self.head is None else slice(self.head, self.head + 1)


def checked(name: str) -> str:
    """The name of a map, if it is one."""
    if name in MAPS or _LAYER.fullmatch(name):
        return name
    raise BadConfig(f"unknown map {name!r}; valid: {', '.join(MAPS)}, layer:L, layer:L,head:H (as in layer:-1,head:0)")


def parsed(name: str, heads: Sequence[int]) -> Map:
    """The map of that name in a model whose layers have so many heads each."""
    if match := _LAYER.fullmatch(name):
        layer = _place(int(match[1]), len(heads), "layer", name)
        head = None if match[2] is None else _place(int(match[2]), heads[layer], "head", name)
        return Map(MAPS["cls"], range(layer, layer + 1), head)
    kind = MAPS[name]
    return Map(kind, range(len(heads)) if kind.all_layers else range(len(heads) - 1, len(heads)), None)


def _place(number: int, count: int, what: str, name: str) -> int:
    if not -count <= number < count:
        raise BadConfig(f"map {name!r}: no {what} {number}; there are {count}, so give {-count} to {count - 1}")
    return number % count


def mean_of_rows(layer: Layer) -> Tensor:
    """The classifying rows, each by its share, mean of the heads: (B, L)."""
    rows = layer.rows[:, layer.heads]
    return torch.einsum("bhql,bq->bl", rows, layer.classifying.shares) / rows.shape[1]


def mean_of_heads(layer: Layer) -> Tensor:
    """All rows, mean of the heads: (B, L, L)."""
    if layer.weights is None:
        raise TypeError("a map of all layers needs all rows")
    return layer.classifying.placed(layer.rows.mean(dim=1), layer.weights.mean(dim=1))


def flow(matrices: Sequence[Tensor], classifying: "Rows") -> Tensor:
    """Attention rollout from the classifying rows, (B, L)."""
    return rolled_out(matrices, classifying.start(matrices[0].shape[-1]))


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


def normed(layer: Layer) -> Tensor:
    """Norm-weighted attention, (B, L), summing to one: |sum over heads of weight . value . projection|. What heads add
    up to is measured by the inner products of each token's projected values: (B, L, H, H) instead of (B, Q, L, W)."""
    if layer.projection is None:
        raise TypeError("norm-weighted attention needs the output projection")
    rows, values = layer.rows, layer.values
    heads, width = values.shape[1], values.shape[3]
    projected = torch.einsum("bhld,hdw->blhw", values, layer.projection.view(heads, width, -1))
    products = torch.einsum("blhw,blgw->blhg", projected, projected)
    squares = torch.einsum("bhql,blhg,bgql->bql", rows, products, rows)
    lengths = torch.einsum("bql,bq->bl", squares.clamp(min=0).sqrt(), layer.classifying.shares)
    return lengths / lengths.sum(dim=-1, keepdim=True)


# a map in a file of its own takes one line here, the module's name; the module registers it
MAPS: Registry[Kind] = Registry(
    {
        "cls": Kind(mean_of_rows),
        "rollout": Kind(mean_of_heads, flow, all_layers=True, numbers=lambda size: size.tokens**2 * size.layers),
        "norm": Kind(
            normed, projection=True, numbers=lambda size: size.tokens * size.heads * (size.width + size.heads)
        ),
    }
)


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
    """Which tokens a model decides from, by the gradients (B, L) of its logits; None: other ones."""
    used = slopes > 0
    first, last = torch.zeros_like(used), torch.zeros_like(used)
    first[:, 0] = True
    last[torch.arange(len(real)), real.sum(dim=1) - 1] = True
    for name, pattern in ((FIRST, first), (LAST, last), (ALL, real)):
        if torch.equal(used, pattern):
            return name
    return None


def output_projection(subject: "HuggingFace", audited: int) -> Tensor:
    """Weights (H . D, W) of the linear layer whose input is exactly that layer's attention output."""
    from transformers.pytorch_utils import Conv1D

    made: list[Tensor] = []
    found: list[Any] = []

    def look(layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        if layer == audited:
            made.append(output.flatten(2))
        return output

    def hook(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if made and not found and inputs and isinstance(inputs[0], Tensor) and torch.equal(inputs[0], made[0]):
            found.append(module)

    linear = [module for module in subject.model.modules() if isinstance(module, nn.Linear | Conv1D)]
    handles = [module.register_forward_pre_hook(hook) for module in linear]
    try:
        with torch.no_grad():
            subject.call(*subject.inputs(subject.example()), look)
    finally:
        for handle in handles:
            handle.remove()
    if not found:
        raise BadConfig(
            f"map 'norm' needs the output projection of attention, and no linear layer of "
            f"{type(subject.model).__name__} is given what attention puts out; choose another map"
        )
    weight: Tensor = found[0].weight.detach()
    return weight if isinstance(found[0], Conv1D) else weight.T
