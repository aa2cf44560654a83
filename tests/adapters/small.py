"""Small attention classifiers of plain tensors, as users write them, and some that are wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from heedful.adapters.module import Module

WORDS = 20
TEXTS = ["3 4 5", "7", "6 5 4 3 8 9 10", "11 12", "13 4 13 4 5", "19 18 17 16 15 14 13 12 11"]


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()]


class Named(NamedTuple):
    states: Tensor
    weights: Tensor


@dataclass
class Held:
    weights: Tensor
    note: str = ""


class Attention(nn.Module):
    """Weights of every head, (B, H, L), returned in some form."""

    def __init__(self, width: int, heads: int, wrap: Callable[[Tensor, Tensor], Any]) -> None:
        super().__init__()
        self.score, self.wrap = nn.Linear(width, heads), wrap

    def forward(self, states: Tensor, real: Tensor) -> Any:
        scores = self.score(states).transpose(1, 2).masked_fill(~real[:, None], -torch.inf)
        return self.wrap(scores.softmax(dim=-1), states)


class Form(NamedTuple):
    """How weights (B, H, L) are returned, and found again by the model."""

    wrap: Callable[[Tensor, Tensor], Any]
    unwrap: Callable[[Any], Tensor]  # to (B, H, L)
    heads: int = 1
    options: Mapping[str, Any] = MappingProxyType({})


def _by_query(weights: Tensor) -> Tensor:
    """Rows of as many queries as tokens, the first as they were, later ones sharper: (B, L, L)."""
    powers = torch.arange(1, weights.shape[-1] + 1)[:, None]
    sharper = weights[:, :1] ** powers
    return sharper / sharper.sum(dim=-1, keepdim=True)


FORMS: dict[str, Form] = {
    "flat": Form(lambda w, h: w[:, 0], lambda out: out[:, None]),
    "column": Form(lambda w, h: w.transpose(1, 2), lambda out: out.transpose(1, 2)),
    "one head": Form(lambda w, h: w, lambda out: out),
    "heads": Form(lambda w, h: w, lambda out: out, heads=3),
    "one query": Form(lambda w, h: w[:, :, None], lambda out: out[:, :, 0], heads=2),
    "queries": Form(lambda w, h: _by_query(w), lambda out: out[:, :1], options={"row": 0}),
    "heads and queries": Form(
        lambda w, h: torch.stack([w.flip(1), w], dim=2), lambda out: out[:, :, 1], heads=2, options={"row": 1}
    ),
    "tuple": Form(lambda w, h: (h, w[:, 0]), lambda out: out[1][:, None]),
    "list": Form(lambda w, h: [w[:, 0], None], lambda out: out[0][:, None]),
    "named": Form(lambda w, h: Named(h, w[:, 0]), lambda out: out.weights[:, None]),
    "dict": Form(lambda w, h: {"h": h, "alpha": w}, lambda out: out["alpha"], heads=2),
    "dataclass": Form(lambda w, h: Held(w), lambda out: out.weights, heads=2),
    "chosen": Form(lambda w, h: (w, w.flip(0)), lambda out: out[0], options={"element": 0}),
}


class Small(nn.Module):
    """Embed, look at neighbours, attend, decide: affine in the attended vector unless `bend` says otherwise."""

    def __init__(
        self, form: str = "flat", *, outputs: int = 2, bend: Callable[[Tensor], Tensor] = lambda c: c, width: int = 6
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            chosen = FORMS[form]
            self.form, self.bend = chosen, bend
            self.embedding = nn.Embedding(WORDS, width)
            self.mix = nn.Linear(width, width)
            self.dropout = nn.Dropout(0.5)
            self.attention = Attention(width, chosen.heads, chosen.wrap)
            self.head = nn.Linear(width * chosen.heads, outputs)

    def states(self, tokens: Tensor, real: Tensor) -> Tensor:
        vectors = self.embedding(tokens) * real[..., None]
        before = torch.nn.functional.pad(vectors, (0, 0, 1, 0))[:, :-1]
        return self.dropout(torch.tanh(self.mix(vectors + before)))

    def decide(self, weights: Tensor, states: Tensor) -> Tensor:
        attended = (weights @ states).flatten(1)  # (B, H * D)
        return self.head(self.bend(attended))

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        states = self.states(tokens, real)
        return self.decide(self.form.unwrap(self.attention(states, real)), states)


def subject_of(model: nn.Module, **options: Any) -> Module:
    form = getattr(model, "form", None)
    given: dict[str, Any] = {
        "attention": "attention",
        "embedding": "embedding",
        "tokenize": numbers,
        "classes": ("no", "yes"),
        **(form.options if form else {}),
        **options,
    }
    return Module(model, **given)
