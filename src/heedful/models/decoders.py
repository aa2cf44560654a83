"""Decoders: the attended state (B, H) to logits (B, K).

Every decoder meets the attended state first through a linear map, so it can be applied to each item before attention
mixes them: the `items` of an instance and its attention are all that its logits depend on.
"""

import torch
from torch import Tensor, nn

from heedful.models.attentions import Query


class Decoder(nn.Module):
    """Base of all decoders."""

    outputs: int  # K
    width: int  # F

    def items(self, states: Tensor) -> Tensor:
        """What the decoder keeps of each state, (..., F); linear."""
        raise TypeError("a decoder defines items")

    def logits(self, mixed: Tensor, query: Query) -> Tensor:
        """Logits (B, ..., K) of items mixed by attention, (B, ..., F)."""
        raise TypeError("a decoder defines logits")

    def forward(self, attended: Tensor, query: Query) -> Tensor:
        """Logits of attended states."""
        return self.logits(self.items(attended), query)


class Affine(Decoder):
    """W c + b: an item's score is W h, so attention only averages the items' scores."""

    def __init__(self, size: int, outputs: int) -> None:
        super().__init__()
        self.outputs = self.width = outputs
        self.linear = nn.Linear(size, outputs)

    def items(self, states: Tensor) -> Tensor:
        """Scores, (..., K): the logits if an item had all the attention, without bias."""
        return states @ self.linear.weight.T

    def logits(self, mixed: Tensor, query: Query) -> Tensor:
        """The bias comes last."""
        return mixed + self.linear.bias

    @property
    def bias(self) -> Tensor:
        """(K,)."""
        return self.linear.bias


class WithQuery(Decoder):
    """V tanh(W c + U q) + b over the candidates (the released code of Jain & Wallace 2019)."""

    def __init__(self, size: int, outputs: int) -> None:
        super().__init__()
        self.outputs, self.width = outputs, max(1, size // 2)
        self.attended = nn.Linear(size, self.width)
        self.query = nn.Linear(size, self.width)
        self.answer = nn.Linear(self.width, outputs)

    def items(self, states: Tensor) -> Tensor:
        """Features, (..., F), bias left out."""
        return states @ self.attended.weight.T

    def context(self, query: Query) -> Tensor:
        """What the query and the biases add to mixed features, (B, F)."""
        context: Tensor = self.query(query.vector)
        return context + self.attended.bias

    def logits(self, mixed: Tensor, query: Query) -> Tensor:
        """Minus infinity for classes that are no candidates."""
        between = (1,) * (mixed.ndim - 2)
        context = self.context(query)
        logits: Tensor = self.answer(torch.tanh(mixed + context.view(len(context), *between, -1)))
        if query.candidates is None:
            return logits
        return logits.masked_fill(~query.candidates.view(len(logits), *between, -1), -torch.inf)


def output_of(logits: Tensor) -> Tensor:
    """Probabilities (B, K): a sigmoid for K = 1, a softmax otherwise."""
    return torch.sigmoid(logits) if logits.shape[-1] == 1 else logits.softmax(dim=-1)
