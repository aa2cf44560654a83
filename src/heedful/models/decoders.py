"""Decoders: the attended state (B, H) to logits (B, K)."""

import torch
from torch import Tensor, nn


class Affine(nn.Module):
    """W c + b: what an item alone would say is W h, so attention only averages the items' scores."""

    def __init__(self, size: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, outputs)

    def forward(self, attended: Tensor) -> Tensor:
        """Logits of attended states."""
        logits: Tensor = self.linear(attended)
        return logits

    def scores(self, states: Tensor) -> Tensor:
        """What each item would say if it had all the attention, bias left out: (B, T, K)."""
        return states @ self.linear.weight.T

    @property
    def bias(self) -> Tensor:
        """(K,)."""
        return self.linear.bias


def output_of(logits: Tensor) -> Tensor:
    """Probabilities (B, K): a sigmoid for K = 1, a softmax otherwise."""
    return torch.sigmoid(logits) if logits.shape[-1] == 1 else logits.softmax(dim=-1)
