"""Products of many rows with a layer's weights, by oneDNN.

torch gives single-precision products to MKL. oneDNN, which it uses for convolutions and LSTMs, was twice as fast on an
AMD processor with AVX-512.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

_AVAILABLE = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")  # type: ignore[no-untyped-call]


def product(rows: Tensor, weight: Tensor, bias: Tensor | None = None, *, tanh: bool = False) -> Tensor:
    """`rows` (N, E) times `weight` (F, E) transposed, plus `bias` (F,): (N, F). A call costs some 15 microseconds more
    than one of `torch.mm`, so this is for many rows."""
    if not _AVAILABLE or rows.dtype != torch.float32 or not rows.numel():
        values = functional.linear(rows, weight, bias)
        return values.tanh_() if tanh else values
    if not weight.is_contiguous() and not weight.T.is_contiguous():  # oneDNN would take a thousand times as long
        weight = weight.contiguous()
    made: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "tanh" if tanh else "none", [], "")
    return made


def additive_scores(states: Tensor, hidden: torch.nn.Linear, score: torch.nn.Linear) -> Tensor:
    """v . tanh(W h + b), (...), of states (..., H)."""
    scores: Tensor = _AdditiveScores.apply(  # type: ignore[no-untyped-call]
        states.flatten(0, -2), hidden.weight, hidden.bias, score.weight
    )
    return scores.view(states.shape[:-1])


class _AdditiveScores(torch.autograd.Function):
    """One function rather than three, so that gradients are made in place."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor, score: Tensor) -> Tensor:
        bent = product(rows, weight, bias, tanh=True)
        ctx.save_for_backward(rows, weight, score, bent)
        return bent @ score[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        rows, weight, score, bent = ctx.saved_tensors
        inner = gradients[0][:, None] * score
        torch.ops.aten.tanh_backward.grad_input(inner, bent, grad_input=inner)
        return product(inner, weight.T), product(inner.T, rows.T), inner.sum(dim=0), gradients[0][None] @ bent
