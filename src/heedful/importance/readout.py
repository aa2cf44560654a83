"""Attention as a linear map of the state and a function of the result, so that a part of the state may change alone."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from heedful.models.attentions import Additive, Attention, Dot


class Readout(NamedTuple):
    """Attention scores from features, features linear in the state: what its parts add to them may be added up."""

    matrix: Tensor  # (H, F)
    bias: Tensor  # (F,)
    scores: Callable[[Tensor], Tensor]  # features (..., F), which it may overwrite, to scores (...)


def readout(attention: Attention, size: int) -> Readout:
    """The readout of an attention over states of `size` H; where nothing is known of it, the state is its features."""
    if type(attention) is Additive:
        hidden, score = attention.hidden, attention.score.weight[0]
        return Readout(hidden.weight.T, hidden.bias, lambda features: features.tanh_() @ score)
    if type(attention) is Dot:
        matrix = attention.score.weight.T / attention.scale
        return Readout(matrix, matrix.new_zeros(1), lambda features: features.squeeze(-1))
    return Readout(torch.eye(size), torch.zeros(size), attention.scores)
