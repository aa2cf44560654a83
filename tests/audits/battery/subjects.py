"""A small attention classifier in plain torch, as a subject, and its evidence written out by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from heedful.adapters.changes import Change, changed, masses_of, normalised
from heedful.adapters.subject import Embed, Padded, Reading, Seen, Subject
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.evidence import Evidence, probabilities
from heedful.ragged import Ragged

WORDS, WIDTH = 30, 6
BLANK, START = 0, 1  # the first token of every text of a `framed` subject is no item


@dataclass(eq=False)
class Small(Subject):
    """tanh of a token's vector and of what precedes it, attended to by several heads, decoded by a linear layer."""

    outputs: int = 2
    heads: int = 1
    seed: int = 0
    dtype: torch.dtype = torch.float64
    context: float = 0.3
    blank: int | None = BLANK
    rows: int = 1 << 20  # texts a batch
    padding: int = 0  # more of it than needed
    classes: tuple[str, ...] = ("a", "b", "c", "d")
    longest: int | None = None
    about: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        draw = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=draw, dtype=torch.float64).to(self.dtype)

        self.table, self.query = normal(WORDS, WIDTH), 1.5 * normal(self.heads, WIDTH)
        self.value, self.bias = 2 * normal(self.heads, WIDTH, self.outputs) / self.heads, normal(self.outputs)

    def encode(self, texts: Sequence[str]) -> Texts:
        raise NotImplementedError

    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        return 1

    def batches(self, texts: Texts, *, gradient: bool = False):  # type: ignore[no-untyped-def]
        for batch in super().batches(texts, gradient=gradient):
            for first in range(0, len(batch.rows), self.rows):
                some = batch.take(torch.arange(first, min(first + self.rows, len(batch.rows))))
                yield self.wider(some)

    def wider(self, batch: Padded) -> Padded:
        more = (0, self.padding)
        pad = torch.nn.functional.pad
        tokens, real = pad(batch.tokens, more, value=3), pad(batch.real, more, value=False)
        return Padded(batch.rows, tokens, real, pad(batch.item, more, value=NO_ITEM), batch.lengths)

    def states(self, vectors: Tensor, real: Tensor) -> Tensor:
        previous = torch.nn.functional.pad(vectors, (0, 0, 1, 0))[:, :-1]
        return torch.tanh(vectors + self.context * previous) * real[..., None]

    def forward(
        self, batch: Padded, *, change: Change | None = None, embed: Embed | None = None, attention_fixed: bool = False
    ) -> Reading:
        vectors = self.table[batch.tokens]
        vectors = vectors if embed is None else embed(vectors)
        states = self.states(vectors, batch.real)  # (B, L, D)
        scores = torch.einsum("bld,hd->bhl", states, self.query)
        scores = scores.masked_fill(~batch.real[:, None], -torch.inf)
        empty = ~batch.real.any(dim=1)
        weights = scores.masked_fill(empty[:, None, None], 0.0).softmax(dim=2) * ~empty[:, None, None]  # (B, H, L)
        if attention_fixed:
            weights = weights.detach()
        if change is not None:
            weights = changed(weights, batch.item, batch.items, change)
        logits = torch.einsum("bhl,bld,hdk->bk", weights, states, self.value) + self.bias
        masses = masses_of(weights, batch.item, batch.items)
        return Reading(logits, normalised(masses.mean(dim=1)), 1 - masses.mean(dim=1).sum(dim=1))

    def evidence(self, ids: Sequence[str], texts: Texts) -> Evidence:
        """Of one head over texts whose tokens are their items: what each state alone would say, in double precision."""
        seen, scores = self.read(texts), []
        for row in range(len(texts)):
            tokens = torch.from_numpy(texts.tokens[row])[None]
            states = self.states(self.table[tokens], torch.ones_like(tokens, dtype=torch.bool))[0]
            scores.append((states @ self.value[0]).double().numpy())
        values = np.concatenate(scores)
        return Evidence(
            ids=list(ids),
            tokens=texts.names,
            weights=seen.weights,
            output=probabilities(seen.logits),
            scores=texts.names.like(values),
            bias=np.tile(self.bias.double().numpy(), (len(texts), 1)),
        )


def make_texts(lengths: Sequence[int], *, framed: bool = False, pieces: bool = False, seed: int = 0) -> Texts:
    """Random texts of so many items; `framed` by a token that is no item; every other item in two `pieces`."""
    draw = np.random.default_rng(seed)
    tokens, items = [], []
    for length in lengths:
        item = [number for number in range(length) for _ in range(2 if pieces and number % 2 else 1)]
        words = draw.integers(2, WORDS, size=len(item)).tolist()
        tokens.append([START, *words] if framed else words)
        items.append([NO_ITEM, *item] if framed else item)
    names = np.array([f"w{number}" for number in range(sum(lengths))], dtype=object)
    both = (Ragged.from_rows(rows, dtype=np.int64) for rows in (tokens, items))
    return Texts(*both, Ragged.from_lengths(names, lengths))


def named(texts: Texts) -> list[str]:
    return [f"i{row}" for row in range(len(texts))]


def took(seen: Seen, rows: Sequence[int]) -> Seen:
    return Seen(seen.logits[rows], seen.weights.take(rows), seen.aside[rows])
