"""Encoders with a way back: e . dy/de for each embedded token e, from the gradient of y with respect to the states.

Every encoder meets a token first through a linear map W, and e . dy/de = W e . dy/d(W e). So the way back ends at the
projected tokens W e: nothing is multiplied by W again, and no parameter gets a gradient. W e is the same wherever a
word stands, and is computed once a word.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from heedful.models.encoders import Average
from heedful.models.padded import Padded


class Encoding(NamedTuple):
    """States, and the way back from them."""

    states: Padded  # (B, T, H)
    product: Callable[[Tensor], Tensor]  # gradient of the states (B, T, H) to each token . its gradient (B, T)


class Differentiable:
    """Any encoder, by autograd; its projected tokens are the embedded ones themselves."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def project(self, vectors: Tensor) -> Tensor:
        """Word vectors (U, E) to projected words (U, D); linear, so without any bias."""
        return vectors

    def encode(self, projected: Padded) -> Encoding:
        """States of projected tokens (B, T, D)."""
        leaf = projected.values.detach().requires_grad_()
        with torch.enable_grad():
            states = self.encoder(projected.with_values(leaf))

        def product(gradient: Tensor) -> Tensor:
            (back,) = torch.autograd.grad(states.values, leaf, gradient, retain_graph=True)
            return (projected.values * back).sum(dim=-1)

        return Encoding(states.with_values(states.values.detach()), product)


class DifferentiableAverage(Differentiable):
    """Each token by itself: the slope of the activation is all that a gradient meets on its way."""

    encoder: Average

    def project(self, vectors: Tensor) -> Tensor:
        """(U, H)."""
        return vectors @ self.encoder.project.weight.T

    def encode(self, projected: Padded) -> Encoding:
        """The activation of the projected tokens."""
        states = self.encoder.activation(projected.values + self.encoder.project.bias)
        slopes = states > 0 if self.encoder.activation is torch.relu else 1 - states**2
        changes = projected.values * slopes  # (B, T, H)
        return Encoding(projected.with_values(states), lambda gradient: (changes * gradient).sum(dim=-1))
