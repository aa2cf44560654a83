"""Integrated gradients (Sundararajan, Taly & Yan 2017): what each token adds on the way from nothing to the text."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import BadConfig
from heedful.evidence import decide
from heedful.importance.differentiation import Differentiator, output_slopes
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.padded import Padded
from heedful.ragged import Indices, Ragged


class IntegratedGradients(NamedTuple):
    """Attributions, and by how much they miss what they should add up to."""

    values: Ragged  # (N,) float32, signed
    error: NDArray[np.float32]  # (n,): |sum of a text's values - (its output - the baseline's output)|


def integrated_gradients(model: Classifier, tokens: Ragged, *, steps: int = 16) -> IntegratedGradients:
    """The gradient of the decided class's probability, integrated on the straight line from zero vectors to the tokens.

    A single output is the second class's probability, and is the one explained whatever was decided. The gradient flows
    through attention; the sentinels stay as they are. `steps` is the number of Gauss-Legendre nodes.
    """
    if steps < 1:
        raise BadConfig(f"integrated gradients need one step at least, not {steps}")
    nodes, shares = np.polynomial.legendre.leggauss(steps)  # on [-1, 1]
    values = tokens.like(np.empty(len(tokens.values), dtype=np.float32))
    error = np.zeros(len(tokens), dtype=np.float32)
    differentiate = Differentiator(model, attention_fixed=False)
    with torch.no_grad():
        for rows, cells, projected in differentiate.batches(tokens):
            ends = [output_of(differentiate(_shrunk(projected, share)).logits) for share in (0.0, 1.0)]  # (B, K) each
            explained = decide(ends[1].numpy()) if len(model.decoder.bias) > 1 else np.zeros(len(rows), dtype=np.int64)
            chosen = np.arange(len(rows)), explained
            real = projected.inner().mask  # (B, T)
            total = torch.zeros(real.shape, dtype=torch.float64)
            for share, weight in zip((nodes + 1) / 2, shares / 2, strict=True):
                total += weight * _slopes(differentiate, projected, share, chosen)
            values.values[cells] = total[real].numpy()
            error[rows] = (total.where(real, 0).sum(dim=1) - (ends[1] - ends[0])[chosen]).abs().numpy()
    return IntegratedGradients(values, error)


def _slopes(differentiate: Differentiator, projected: Padded, share: float, chosen: tuple[Indices, Indices]) -> Tensor:
    """Each token . its gradient at a point of the line, (B, T), for the chosen (row, output) pairs."""
    logits, product = differentiate(_shrunk(projected, share))
    return product(output_slopes(logits)[chosen]) / share  # the product was with the shrunken token


def _shrunk(projected: Padded, share: float) -> Padded:
    """Tokens shrunk towards zero, sentinels as they are; what is linear in a token shrinks with it."""
    positions = torch.arange(projected.values.shape[1])
    inside = (positions > 0) & (positions < projected.lengths[:, None] - 1)  # (B, T)
    return projected.with_values(projected.values * torch.where(inside, share, 1.0)[..., None])
