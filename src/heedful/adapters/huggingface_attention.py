"""Where transformers computes attention: a function of its `AttentionInterface` that shows a reading each layer's
weights and lets it put in others.

The weights are those of the model family's own eager function, so scaling, grouped heads, windows, caps and sinks are
the library's. Its mask function is registered, too: without one no mask is made, and padding is attended to.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from heedful.errors import BadInput

NAME = "heedful"  # of the function, in the library's table


class Look(Protocol):
    """Sees one layer's weights (B, H, L, L), values (B, H, L, D) and what they made (B, L, H, D); returns the last."""

    def __call__(self, layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        """What the layer shall go on with."""


class Watch:
    """One reading: its calls of the attention function are counted, and each is looked at."""

    def __init__(self, look: Look) -> None:
        self.look, self.calls = look, 0

    def layer(self, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        """The next layer's attention."""
        self.calls += 1
        return self.look(self.calls - 1, weights, values, output)


_WATCH: ContextVar[Watch | None] = ContextVar("heedful_watch", default=None)


@contextmanager
def watching(look: Look) -> Iterator[Watch]:
    """Within it, readings of a model whose attention function is ours are looked at."""
    watch = Watch(look)
    token = _WATCH.set(watch)
    try:
        yield watch
    finally:
        _WATCH.reset(token)


def register() -> None:
    """Tell transformers of our function and its masks; models use them when their configuration names them."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, masks)


def masks(*shape: Any, **options: Any) -> Tensor | None:
    """The library's masks of its eager functions. They are of single precision in double precision models, too: most
    functions compute the softmax in single precision, where a row that sees nothing (padding) would be no number."""
    from transformers.masking_utils import eager_mask

    mask: Tensor | None = eager_mask(*shape, **options | {"dtype": torch.float32})
    return mask


def attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, Tensor]:
    """Attention as the library's eager function computes it, looked at on the way."""
    watch = _WATCH.get()
    if watch is None:
        raise BadInput(f"attention function '{NAME}' called outside an audit: set the model's own implementation")
    output, weights = _eager(module)(module, query, key, value, attention_mask, **options)
    if weights is None or weights.shape != (*query.shape[:3], query.shape[2]):
        raise BadInput(
            f"{type(module).__name__} gives attention of shape {None if weights is None else tuple(weights.shape)}; "
            f"an audit needs one weight for each pair of tokens, {(*query.shape[:3], query.shape[2])}"
        )
    values = value.repeat_interleave(weights.shape[1] // value.shape[1], dim=1)  # grouped heads share theirs
    return watch.layer(weights, values, output), weights


def _eager(module: nn.Module) -> Callable[..., Any]:
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function  # type: ignore[no-any-return]
    raise BadInput(
        f"{type(module).__name__} has no eager attention beside it in transformers, so its weights cannot be computed "
        "as the library does; audit the model as a torch module instead"
    )
