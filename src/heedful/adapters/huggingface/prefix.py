"""Beginnings of texts kept as keys and values, so that a causal transformer reads on from there.

A token's keys and values depend, in all layers, on that token and those before it alone. The model gets them as its
cache, so masks and positions are the library's. Layers with a window get all tokens, too, and mask the old ones.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

from heedful.adapters.huggingface.attention import PADDING, borrowed
from heedful.adapters.huggingface.maps import LAST, rows_of
from heedful.adapters.subject import Padded, Prefixes

if TYPE_CHECKING:
    from heedful.adapters.huggingface import HuggingFace


@dataclass(frozen=True, eq=False)
class KeysAndValues(Prefixes):
    """Keys and values of a batch of beginnings."""

    layers: tuple[tuple[Tensor, Tensor], ...]  # (B, G, L, D) each, G the heads that have keys of their own
    rows: Tensor  # (M,): the row of these that each text begins as

    def take(self, rows: Tensor) -> "KeysAndValues":
        """Some rows; nothing is copied."""
        return replace(self, rows=self.rows[rows.to(self.rows.device)])

    def bytes_of(self, tokens: int) -> int:
        """Two copies of one layer's keys and values: as gathered, and with those of the remaining tokens appended."""
        keys, values = self.layers[0]
        return 2 * tokens * (keys[0, :, :1].nbytes + values[0, :, :1].nbytes)


class Beginning(DynamicLayer):  # type: ignore[misc]
    """A layer's cache that holds the first tokens of some texts. They are copied when the layer is computed: all layers
    at once would take as much memory as the model's states do many times over."""

    def __init__(self, keys: Tensor, values: Tensor, rows: Tensor, start: int) -> None:
        super().__init__()
        self.keys, self.values, self.is_initialized = keys[:, :, :start], values[:, :, :start], True
        self.rows, self.start = rows, start

    def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Keys and values of the beginnings, and of what is read on from there."""
        pairs = (self.keys, keys), (self.values, values)
        keys, values = (torch.cat([kept.index_select(0, self.rows), new], dim=2) for kept, new in pairs)
        return keys, values

    def get_seq_length(self) -> int:
        """Tokens that have been read."""
        return self.start


def begin(subject: "HuggingFace", batch: Padded) -> KeysAndValues:
    """Read a batch of prefixes and keep its keys and values."""
    cache = Cache(layer_class_to_replicate=DynamicLayer)
    tokens, _, padding = subject.inputs(batch)
    _logits(subject, tokens, padding, cache)
    layers = tuple((layer.keys, layer.values) for layer in cache.layers)
    return KeysAndValues(layers, torch.arange(len(tokens), device=layers[0][0].device))


def resume(subject: "HuggingFace", batch: Padded, prefixes: KeysAndValues, start: int) -> Tensor:
    """Logits (B, K) of a batch, read from its token `start` on, or from an earlier one: what the model decides from,
    the last token that is not the padding token, must be read."""
    tokens, real, padding = subject.inputs(batch)
    place = rows_of(LAST, tokens, real, padding, torch.float32).place
    start = start if place is None else min(start, int(place.min()))
    layers = [Beginning(keys, values, prefixes.rows, start) for keys, values in prefixes.layers]
    return _logits(subject, tokens[:, start:], padding, Cache(layers=layers), start)


def _logits(subject: "HuggingFace", tokens: Tensor, padding: int, cache: Cache, start: int = 0) -> Tensor:
    """By the model's own implementation of attention. Padding comes last, where no other token looks at it, and is not
    masked: in double precision, a padding token in whose window all is masked would be no number."""
    device = subject.device
    mask = torch.ones(len(tokens), start + tokens.shape[1], dtype=torch.int64, device=device)
    with borrowed(subject.model, {PADDING: padding}):
        return subject.logits(
            {"input_ids": tokens.to(device), "attention_mask": mask, "past_key_values": cache, "use_cache": True}
        )
