"""Observing and changing attention in transformers: a function for its `AttentionInterface` that passes each layer's
weights to a callback, which may replace the layer's output.

The weights are those of the model family's own eager function, so scaling, grouped heads, windows, caps and sinks are
the library's. Its mask function is registered, too: without one no mask is made, and padding is attended to.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor, nn

from heedful.adapters.changes import Change, changed
from heedful.adapters.hardware import widened
from heedful.adapters.huggingface.maps import Layer, Map, Rows, pooling_of
from heedful.errors import BadInput, HeedfulError

if TYPE_CHECKING:
    from heedful.adapters.huggingface import HuggingFace

NAME = "heedful"  # of the function, in the library's table


class Look(Protocol):
    """Sees one layer's weights (B, H, L, L), values (B, H, L, D) and what they made (B, L, H, D); returns the last."""

    def __call__(self, layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        """What the layer shall go on with."""


Attended = tuple[Tensor, Tensor | None]  # what attention makes (B, L, H, D), and its weights
Watch = Callable[[Callable[[], tuple[Tensor, Tensor, Tensor]]], Attended]  # of the layer's own output, weights, values
_WATCH: ContextVar[Watch | None] = ContextVar("heedful_watch", default=None)


@contextmanager
def watching(look: Look, *, first: int = 0) -> Iterator[None]:
    """Within it, a forward pass of a model with our attention function calls `look` for each layer from `first` on."""
    layer = count(first)

    def watch(own: Callable[[], tuple[Tensor, Tensor, Tensor]]) -> Attended:
        output, weights, values = own()
        return look(next(layer), weights, values, output), weights

    with _set(watch):
        yield


@contextmanager
def attending(output: Tensor) -> Iterator[None]:
    """Inside the block, attention in every layer returns this output (B, L, H, D) instead of its own."""
    with _set(lambda own: (output, None)):
        yield


@contextmanager
def _set(watch: Watch) -> Iterator[None]:
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


def register() -> None:
    """Register our function and its masks with transformers; models use them when their configuration names them."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, masks)


def masks(*shape: Any, **options: Any) -> Tensor | None:
    """The library's masks of its eager functions. They are of single precision in double precision models, too: most
    functions compute the softmax in single precision, where a row that sees nothing (padding) would be no number."""
    from transformers.masking_utils import eager_mask

    coarse = torch.finfo(options.get("dtype", torch.float32)).bits < 32
    mask: Tensor | None = eager_mask(*shape, **options if coarse else options | {"dtype": torch.float32})
    return mask


def attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> Attended:
    """Attention by the library's eager function, passed to the watch."""
    watch = _WATCH.get()
    if watch is None:
        raise BadInput(f"attention function '{NAME}' called outside an audit: set the model's own implementation")

    def own() -> tuple[Tensor, Tensor, Tensor]:
        output, weights = _eager(module)(module, query, key, value, attention_mask, **options)
        if weights is None or weights.shape != (*query.shape[:3], query.shape[2]):
            raise BadInput(
                f"{type(module).__name__} gives attention of shape "
                f"{None if weights is None else tuple(weights.shape)}; an audit needs one weight for each pair of "
                f"tokens, {(*query.shape[:3], query.shape[2])}"
            )
        values = value.repeat_interleave(weights.shape[1] // value.shape[1], dim=1)  # grouped heads share theirs
        return output, weights, values

    return watch(own)


def _eager(module: nn.Module) -> Callable[..., Any]:
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function  # type: ignore[no-any-return]
    raise BadInput(
        f"{type(module).__name__} has no eager attention beside it in transformers, so its weights cannot be computed "
        "as the library does; audit the model as a torch module instead"
    )


ATTENTION = "_attn_implementation_internal"  # where a configuration keeps the name of its attention function
PADDING = "pad_token_id"
CACHE = "use_cache"  # of keys and values: one forward pass has no use for it


@contextmanager
def borrowed(model: nn.Module, settings: dict[str, object]) -> Iterator[None]:
    """Turn dropout off and apply the settings to every config of the model, until the block ends."""
    found = [(vars(config), key, key in vars(config)) for config in configurations(model) for key in settings]
    values = [place.get(key) for place, key, _ in found]
    training = [module for module in model.modules() if module.training]
    try:
        for place, key, _ in found:  # past the properties: those would also set what was not asked for
            place[key] = settings[key]
        for module in training:
            module.training = False
        yield
    finally:
        for module in training:
            module.training = True
        for (place, key, was_there), value in zip(found, values, strict=True):
            if was_there:
                place[key] = value
            else:
                place.pop(key, None)


def configurations(model: nn.Module) -> list[Any]:
    """Every configuration that some part of the model reads, each once."""
    from transformers import PreTrainedConfig

    seen: dict[int, Any] = {}
    waiting = [getattr(module, "config", None) for module in model.modules()]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PreTrainedConfig) and id(config) not in seen:
            seen[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return list(seen.values())


@contextmanager
def embedding(layer: nn.Module, embed: Callable[[Tensor], Tensor] | None) -> Iterator[None]:
    """Within it, the embedding layer's output passes through `embed`."""
    if embed is None:
        yield
        return
    calls = 0

    def hook(_: nn.Module, __: object, vectors: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return embed(vectors.cpu()).to(vectors.device)

    handle = layer.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()
    if calls != 1:
        raise BadInput(f"the embedding layer is called {calls} times in a reading: gradients need it to be called once")


@dataclass
class Intervention:
    """Observes each layer of a batch; audited layers go on with changed weights, if there is a change."""

    map: Map
    rows: Rows
    item: Tensor  # (B, L)
    items: int
    projection: Tensor | None  # of the audited layer, where the map needs it
    change: Change | None
    fixed: bool
    heads: list[int] = field(default_factory=list)  # of each layer
    audited: Layer | None = None  # the last audited layer
    _kept: list[Tensor] = field(default_factory=list)

    def __call__(self, layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        """What the layer goes on with, (B, L, H, D)."""
        self.heads.append(weights.shape[1])
        if layer not in self.map.layers:
            return output
        mixed = self.mixed(self.rows.of(weights), values, weights)
        return output if self.change is None and not self.fixed else self.rows.placed(mixed, output)

    def mixed(self, rows: Tensor, values: Tensor, weights: Tensor | None = None) -> Tensor:
        """What classifying rows (B, H, Q, L) make of the values after a change, (B, Q, H, D)."""
        rows = self._altered(rows)
        self.audited = Layer(weights, rows, values, self.rows, self.map.heads, self.projection)
        self._kept.append(self.map.kind.layer(self.audited))
        return (rows @ values).transpose(1, 2)

    def tokens(self) -> Tensor:
        """The map over all tokens, (B, L)."""
        return self.map.kind.combined(self._kept, self.rows)

    def _altered(self, rows: Tensor) -> Tensor:
        """The rows with the audited heads' weights changed; fixed ones have no gradient."""
        some = rows[:, self.map.heads]
        if self.change is not None:
            flat = widened(some.flatten(1, 2).cpu())  # each head of each query stands for itself
            some = changed(flat, self.item, self.items, self.change).to(rows).view_as(some)
        if self.fixed:
            some = some.detach()
        return some if self.map.head is None else rows.slice_scatter(some, 1, self.map.head, self.map.head + 1)


@dataclass
class Probe:
    """Observes a forward pass without changing it; keeps the last layer's output, for gradients of the logits."""

    heads: list[int] = field(default_factory=list)
    output: Tensor | None = None

    def __call__(self, layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        """The same output, cut off from what is before it."""
        self.heads.append(weights.shape[1])
        with torch.enable_grad():
            self.output = output.detach().requires_grad_()
        return self.output


@torch.inference_mode(False)
@torch.enable_grad()
def probe(subject: "HuggingFace") -> tuple[str, list[int]]:
    """Which tokens the model decides from, and how many heads each layer has; BadInput where that cannot be told."""
    look = Probe()
    kind = type(subject.model).__name__
    tokens, real, padding = subject.inputs(subject.example())
    try:
        logits = subject.call(tokens, real, padding, look)
    except HeedfulError:
        raise
    except Exception as error:  # whatever a model of some family may say
        raise BadInput(f"{kind} cannot read two short texts: {type(error).__name__}: {error}") from error
    expected = subject.config.num_hidden_layers * getattr(subject.config, "inner_group_num", 1)
    if len(look.heads) != expected or look.output is None:
        raise BadInput(
            f"{kind} cannot be audited: of its {expected} layers, {len(look.heads)} computed attention through "
            "transformers' AttentionInterface; the others would ignore a change in silence, or have no attention. "
            "Audit it as a torch module, by the submodule that returns its weights"
        )
    slopes = torch.zeros(tokens.shape)
    if logits.requires_grad:
        for output in range(subject.outputs):
            (slope,) = torch.autograd.grad(logits[:, output].sum(), look.output, retain_graph=True)
            slopes += slope.flatten(2).abs().sum(dim=2).float().cpu()
    pooling = pooling_of(slopes, real)
    if pooling is None:
        used = [torch.nonzero(row).flatten().tolist() for row in slopes]
        raise BadInput(
            f"{kind} decides neither from its first token, nor from its last, nor from all: of texts of "
            f"{real.sum(dim=1).tolist()} tokens it uses the last layer's attention at {used}; so no row is the "
            "one to show"
        )
    return pooling, look.heads
