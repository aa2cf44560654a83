"""Attention as a linear map of the state and a function of the result, so that a part of the state may change alone."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from heedful.models.attentions import Additive, AdditiveToQuery, Attention, Dot
from heedful.models.given import Given


class Readout(NamedTuple):
    """Attention scores from features, features linear in the state: what its parts add to them may be added up."""

    matrix: Tensor  # (H, F)
    bias: Tensor  # (N, F): of each place; the instance that a place belongs to may have a query
    scores: Callable[
        [Tensor, Tensor], Tensor
    ]  # features (A, F), which it may overwrite, at places (A,), to scores (A,)


def readout(attention: Attention, size: int, given: Given, row: Tensor) -> Readout:
    """The readout of an attention over states of `size` H at places whose instances are `row` (N,).

    Where nothing is known of the attention, the state is its features.
    """
    if type(attention) is Additive:
        return _additive(attention.hidden, attention.score, attention.hidden.bias.expand(len(row), -1))
    if type(attention) is AdditiveToQuery:
        return _additive(attention.hidden, attention.score, (attention.hidden.bias + attention.query(given.query))[row])
    if type(attention) is Dot:
        matrix = attention.score.weight.T / attention.scale
        return Readout(matrix, matrix.new_zeros(len(row), 1), lambda features, places: features.squeeze(-1))

    def scores(features: Tensor, places: Tensor) -> Tensor:
        return attention.scores(features[:, None], given.take(row[places])).squeeze(1)

    return Readout(torch.eye(size), torch.zeros(len(row), size), scores)


def _additive(hidden: nn.Linear, score: nn.Linear, bias: Tensor) -> Readout:
    weights = score.weight[0]
    return Readout(hidden.weight.T, bias, lambda features, places: features.tanh_() @ weights)
