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
from heedful.models.classifier import Classifier
from heedful.models.encoders import CNN, Average, BiLSTM, Encoder
from heedful.models.given import Given
from heedful.models.inputs import Inputs, with_sentinels
from heedful.models.padded import Padded
from heedful.ragged import Indices, length_batches

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
    given: Given  # their queries


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

    def batches(self, inputs: Inputs) -> Iterator[Batch]:
        """Rows of similar length together."""
        tokens = inputs.tokens
        filled = np.flatnonzero(tokens.lengths)  # a text without tokens has nothing to tell
        for batch in length_batches(tokens.lengths[filled], rows=BATCH_ROWS, cells=BATCH_CELLS):
            rows = filled[batch]
            some = inputs.take(rows)
            framed = with_sentinels(some.tokens)
            words, places = np.unique(framed.values, return_inverse=True)
            vectors = self.encoder.project(self.model.embedding[torch.from_numpy(words)])  # (U, D)
            padded = Padded.of(framed.like(places))
            projected = vectors.index_select(0, padded.values.flatten()).view(*padded.values.shape, -1)
            yield Batch(rows, tokens.cells(rows), padded.with_values(projected), self.model.given(some))

    def __call__(self, projected: Padded, given: Given) -> Outcome:
        """Read projected tokens."""
        states, encoder_product = self.encoder.encode(projected)
        logits, back = self.attend(states.inner(), given)
        return Outcome(logits, lambda gradient: encoder_product(pad(back(gradient), (0, 0, 1, 1)))[:, 1:-1])

    def _attend_fixed(self, states: Padded, given: Given) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Logits, and gradients of logits to those of the states (B, T, H) under weights that stay as they are."""
        weights = self.model.attention(states, given).values  # (B, T)
        leaf = (weights[:, None] @ states.values).squeeze(1).detach().requires_grad_()  # (B, H)
        with torch.enable_grad():
            logits = self.model.decoder(leaf, given)

        def back(gradient: Tensor) -> Tensor:
            attended: Tensor = torch.autograd.grad(logits, leaf, gradient, retain_graph=True)[0]  # (B, H)
            states: Tensor = weights[..., None] * attended[:, None]
            return states

        return logits.detach(), back

    def _attend(self, states: Padded, given: Given) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """The same through attention."""
        leaf = states.values.detach().requires_grad_()
        with torch.enable_grad():
            weights = self.model.attention(states.with_values(leaf), given).values
            logits = self.model.decoder((weights[:, None] @ leaf).squeeze(1), given)
        return logits.detach(), lambda gradient: torch.autograd.grad(logits, leaf, gradient, retain_graph=True)[0]


def output_slope(logits: Tensor, which: Tensor) -> Tensor:
    """Gradient of one output of each row, `which` (B,), with respect to the logits, (B, K).

    One minus an output is summed up from the others: as a difference it would vanish where the model is sure.
    """
    if logits.shape[1] == 1:
        return torch.sigmoid(logits) * torch.sigmoid(-logits)
    output, place = logits.softmax(dim=1), which[:, None]
    others = output.scatter(1, place, 0.0)
    return output.gather(1, place) * (-others).scatter(1, place, others.sum(dim=1, keepdim=True))
