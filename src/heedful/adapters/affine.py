"""Scores and bias of a model whose logits are affine in its attention, found through the attention alone.

If logits = a @ S + b for every attention `a` over the items of a text, the logits' gradient is S, whatever `a` is: one
forward pass and one backward pass per output give all scores of a text, however long it is. Whether the logits
really are affine is checked under attention far from the model's own.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.adapters.changes import assigned, normalised
from heedful.adapters.checking import probes
from heedful.adapters.subject import Padded, Subject
from heedful.adapters.texts import Texts
from heedful.ragged import Ragged

AFFINE = 1e-4  # how far logits may be from what scores and bias say, for logits of size one


class Scores(NamedTuple):
    """Scores and bias, with their error."""

    scores: Ragged  # (N, K) float32
    bias: NDArray[np.float32]  # (n, K)
    error: NDArray[np.float64]  # (n,): the largest gap found, relative to logits above one; infinite with several heads


def affine(subject: Subject, texts: Texts) -> bool:
    """Whether the logits of some of the texts are affine in their attention."""
    return bool((recovered(subject, probes(subject, texts)).error <= AFFINE).all())


def recovered(subject: Subject, texts: Texts) -> Scores:
    """Scores and bias of every text, and their error, measured by four more forward passes. With several heads the
    audited map is not what the model computes with, so there are none."""
    scores = texts.names.like(np.zeros((len(texts.names.values), subject.outputs), dtype=np.float32))
    bias = np.zeros((len(texts), subject.outputs), dtype=np.float32)
    error = np.zeros(len(texts))
    for batch in subject.batches(texts, gradient=True):
        slopes, constant, gap = _recover(subject, batch)
        scores.values[texts.names.cells(batch.rows)] = slopes[batch.mask].numpy()
        bias[batch.rows], error[batch.rows] = constant.numpy(), gap.numpy()
    return Scores(scores, bias, error)


def _recover(subject: Subject, batch: Padded) -> tuple[Tensor, Tensor, Tensor]:
    """Slopes (B, T, K), bias (B, K) and gaps (B,) of a batch."""
    leaf: list[Tensor] = []

    def watched(shares: Tensor) -> Tensor:
        leaf.append(shares.detach().requires_grad_())
        return leaf[0]

    with torch.enable_grad():
        reading = subject.forward(batch, change=watched)
    shares, logits = leaf[0].detach().double()[:, 0], reading.logits.detach().double()  # (B, T), (B, K)
    if leaf[0].shape[1] > 1 or not reading.logits.requires_grad:
        nothing = torch.zeros(*shares.shape, logits.shape[1])
        return nothing, torch.zeros_like(logits), torch.full((len(logits),), torch.inf)
    sums = reading.logits.sum(dim=0)  # texts do not interact: the gradient of the sum is that of each
    gradients = [torch.autograd.grad(one, leaf[0], retain_graph=True, materialize_grads=True)[0] for one in sums]
    slopes = torch.stack(gradients, dim=-1)[:, 0].double()  # (B, T, K)
    bias = logits - (shares[:, None] @ slopes)[:, 0]
    gap = torch.zeros(len(logits), dtype=torch.float64)
    with torch.no_grad():
        for other in _others(shares, batch.mask):
            said = subject.forward(batch, change=assigned(other)).logits.double()
            apart = (said - (other[:, None] @ slopes)[:, 0] - bias).abs().amax(dim=1)
            gap = torch.maximum(gap, apart / said.abs().amax(dim=1).clamp(min=1))
    return slopes, bias, gap


def _others(shares: Tensor, mask: Tensor) -> Iterator[Tensor]:
    """Attention far from the model's own, (B, T): all alike, all on one item, more and more towards the end."""
    real = mask.to(shares.dtype)
    for far in (shares.argmax(dim=1), shares.masked_fill(~mask, torch.inf).argmin(dim=1)):
        yield torch.zeros_like(shares).scatter(1, far[:, None], 1.0) * real
    for unlike in (real, real * torch.arange(1, mask.shape[1] + 1)):
        yield normalised(unlike)
