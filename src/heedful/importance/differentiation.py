"""A classifier's logits and e . dy/de of every token, batch by batch, in bounded memory."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from heedful.importance.encoding import Differentiable, DifferentiableAverage
from heedful.importance.encoding_bilstm import DifferentiableBiLSTM
from heedful.importance.encoding_cnn import DifferentiableCNN
from heedful.models.classifier import Classifier, with_sentinels
from heedful.models.encoders import CNN, Average, BiLSTM, Encoder
from heedful.models.padded import Padded
from heedful.ragged import Indices, Ragged, length_batches

BATCH_ROWS = 128
BATCH_CELLS = 16_384  # padded cells a batch: a BiLSTM of the papers' size keeps some 15 kB of each

DIFFERENTIABLE: dict[type[Encoder], type[Differentiable]] = {
    BiLSTM: DifferentiableBiLSTM,
    CNN: DifferentiableCNN,
    Average: DifferentiableAverage,
}


class Batch(NamedTuple):
    """Some rows' projected tokens between their sentinels."""

    rows: Indices  # (B,)
    cells: Indices  # where the rows' tokens stand among all tokens, row after row
    projected: Padded  # (B, T + 2, D)


class Outcome(NamedTuple):
    """Logits, and the way back from them."""

    logits: Tensor  # (B, K)
    product: Callable[[Tensor], Tensor]  # gradient of the logits (B, K) to each token . its gradient (B, T)


class Differentiator:
    """A classifier differentiated with respect to its embedded tokens, and nothing else; it is left as it is."""

    def __init__(self, model: Classifier, *, attention_fixed: bool) -> None:
        self.model = model
        self.encoder = DIFFERENTIABLE.get(type(model.encoder), Differentiable)(model.encoder)
        self.attend = self._attend_fixed if attention_fixed else self._attend

    def batches(self, tokens: Ragged) -> Iterator[Batch]:
        """Rows of similar length together."""
        positions = tokens.like(np.arange(len(tokens.values)))
        filled = np.flatnonzero(tokens.lengths)  # a text without tokens has nothing to tell
        for batch in length_batches(tokens.lengths[filled], rows=BATCH_ROWS, cells=BATCH_CELLS):
            rows = filled[batch]
            framed = with_sentinels(tokens.take(rows))
            words, places = np.unique(framed.values, return_inverse=True)
            vectors = self.encoder.project(self.model.embedding[torch.from_numpy(words)])  # (U, D)
            padded = Padded.of(framed.like(places))
            projected = vectors.index_select(0, padded.values.flatten()).view(*padded.values.shape, -1)
            yield Batch(rows, positions.take(rows).values, padded.with_values(projected))

    def __call__(self, projected: Padded) -> Outcome:
        """Read projected tokens."""
        states, encoder_product = self.encoder.encode(projected)
        logits, back = self.attend(states.inner())
        return Outcome(logits, lambda gradient: encoder_product(pad(back(gradient), (0, 0, 1, 1)))[:, 1:-1])

    def _attend_fixed(self, states: Padded) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Logits, and gradients of logits to those of the states (B, T, H) under weights that stay as they are."""
        weights = self.model.attention(states).values  # (B, T)
        logits = self.model.decoder((weights[:, None] @ states.values).squeeze(1))
        scores = self.model.decoder.linear.weight  # (K, H)
        return logits, lambda gradient: weights[..., None] * (gradient @ scores)[:, None]

    def _attend(self, states: Padded) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """The same through attention."""
        leaf = states.values.detach().requires_grad_()
        with torch.enable_grad():
            weights = self.model.attention(states.with_values(leaf)).values
            logits = self.model.decoder((weights[:, None] @ leaf).squeeze(1))
        return logits.detach(), lambda gradient: torch.autograd.grad(logits, leaf, gradient, retain_graph=True)[0]


def output_slopes(logits: Tensor) -> Tensor:
    """Gradient of each output with respect to the logits, (B, K, K).

    One minus an output is summed up from the others: as a difference it would vanish where the model is sure.
    """
    if logits.shape[1] == 1:
        return (torch.sigmoid(logits) * torch.sigmoid(-logits))[..., None]
    output = logits.softmax(dim=1)
    others = output[:, None] * (1 - torch.eye(output.shape[1]))  # (B, K, K)
    return output[..., None] * (torch.diag_embed(others.sum(dim=2)) - others)
