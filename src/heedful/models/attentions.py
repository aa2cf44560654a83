"""Attentions: states (B, T, H), perhaps given a query (B, H), to weights (B, T), a distribution over the real items."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from heedful.models.batches import Padded
from heedful.models.options import ATTENTIONS
from heedful.models.products import additive_scores


class Query(NamedTuple):
    """The queries of a batch, encoded, and the classes that may be answered; classification has neither."""

    vector: Tensor | None = None  # (B, H)
    candidates: Tensor | None = None  # (B, K) bool; None: every class

    def take(self, rows: Tensor) -> "Query":
        """The queries of these rows, in their order."""
        return Query(*(None if values is None else values.index_select(0, rows) for values in self))


class Attention(nn.Module):
    """Base of all attentions: a score for each item, then a softmax over the real ones."""

    def scores(self, states: Tensor, query: Query) -> Tensor:
        """One unnormalised score a cell, (B, T)."""
        raise TypeError("an attention defines scores")

    def forward(self, states: Padded, query: Query) -> Padded:
        """Weights that are zero on padding and sum to one over the real items."""
        scores = self.scores(states.values, query)
        if not states.full:
            scores = scores.masked_fill(~states.mask, -torch.inf)
        return states.with_values(scores.softmax(dim=-1))


class Variants(NamedTuple):
    """An attention as the different models have it."""

    usual: type[Attention]
    wide: type[Attention] | None = None  # of document models; None: the usual one
    to_query: type[Attention] | None = None  # given a query; None: there is none


class Additive(Attention):
    """v . tanh(W h + b) (Bahdanau et al. 2015), with as many hidden units as half the state unless others are given."""

    def __init__(self, size: int, hidden: int | None = None) -> None:
        super().__init__()
        hidden = hidden or max(1, size // 2)
        self.hidden = nn.Linear(size, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)

    def scores(self, states: Tensor, query: Query) -> Tensor:
        return additive_scores(states, self.hidden, self.score)


class WideAdditive(Additive):
    """The same with as many hidden units as the state (Yang et al. 2016, Serrano & Smith 2019)."""

    def __init__(self, size: int) -> None:
        super().__init__(size, hidden=size)


class Dot(Attention):
    """w . h / sqrt(H) with a learned w (Vaswani et al. 2017, without a query)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.scale = math.sqrt(size)
        self.score = nn.Linear(size, 1, bias=False)

    def scores(self, states: Tensor, query: Query) -> Tensor:
        scores: Tensor = self.score(states)
        return scores.squeeze(-1) / self.scale


class AdditiveToQuery(Attention):
    """v . tanh(W h + b + U q + c): additive attention given a query."""

    def __init__(self, size: int) -> None:
        super().__init__()
        hidden = max(1, size // 2)
        self.hidden = nn.Linear(size, hidden)
        self.query = nn.Linear(size, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)

    def scores(self, states: Tensor, query: Query) -> Tensor:
        scores: Tensor = self.score(torch.tanh(self.hidden(states) + self.query(query.vector)[:, None]))
        return scores.squeeze(-1)


class DotToQuery(Attention):
    """h . q / sqrt(H): nothing is learned but states and query."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.scale = math.sqrt(size)

    def scores(self, states: Tensor, query: Query) -> Tensor:
        if query.vector is None:
            raise TypeError("attention to a query needs one")
        return (states @ query.vector[..., None]).squeeze(-1) / self.scale  # (B, T, H) @ (B, H, 1)


ATTENTIONS.register("additive", Variants(Additive, wide=WideAdditive, to_query=AdditiveToQuery))
ATTENTIONS.register("dot", Variants(Dot, to_query=DotToQuery))
