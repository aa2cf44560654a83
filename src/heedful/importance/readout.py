"""Attention as a linear map of the state and a function of the result, so that a part of the state may change alone."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from heedful.models.attentions import Additive, AdditiveToQuery, Attention, Dot
from heedful.models.given import Given


class Readout(NamedTuple):
    """Attention scores from features, features linear in the state: what its parts add to them may be added up."""

    matrix: Tensor  # (F, H)
    bias: Tensor  # (F, B): of each text, which may have a query
    bent: bool  # features pass through a tanh before they are scored
    scores: Callable[[Tensor, Tensor], Tensor]  # of features (S, F, A), the last of texts (A,): (S, A)


def readout(attention: Attention, size: int, given: Given, texts: int) -> Readout:
    """The readout of an attention over states of `size` H in so many texts B.

    Where nothing is known of the attention, the state is its features.
    """
    if type(attention) is Additive:
        return _additive(attention.hidden, attention.score, attention.hidden.bias.expand(texts, -1))
    if type(attention) is AdditiveToQuery:
        return _additive(attention.hidden, attention.score, attention.hidden.bias + attention.query(given.query))
    dtype = next(attention.parameters(), torch.empty(0) if given.query is None else given.query).dtype
    if type(attention) is Dot:
        matrix = attention.score.weight / attention.scale
        return Readout(matrix, torch.zeros(1, texts, dtype=dtype), False, lambda features, texts: features[:, 0])

    def scores(features: Tensor, texts: Tensor) -> Tensor:
        return attention.scores(features.permute(2, 0, 1), given.take(texts)).T

    return Readout(torch.eye(size, dtype=dtype), torch.zeros(size, texts, dtype=dtype), False, scores)


def _additive(hidden: nn.Linear, score: nn.Linear, bias: Tensor) -> Readout:
    weights = score.weight[0]
    return Readout(hidden.weight, bias.T, True, lambda features, texts: weights @ features)
