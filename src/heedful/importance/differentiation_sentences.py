"""A hierarchical model's logits and e . dy/de of every sentence: the words' products, added up."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding

from heedful.importance.differentiation import BATCH_CELLS, BATCH_ROWS
from heedful.importance.outcome import Batch, Outcome
from heedful.models.hierarchical import Han
from heedful.models.inputs import Inputs
from heedful.ragged import length_batches


class SentenceDifferentiator:
    """By autograd, with respect to the words' vectors. The word level is always differentiated through: it makes the
    items; what may be held fixed is the tested attention over them.
    """

    def __init__(self, model: Han, *, attention_fixed: bool) -> None:
        self.model, self.attention_fixed = model, attention_fixed

    def batches(self, inputs: Inputs) -> Iterator[Batch]:
        """Documents of similar length together."""
        words, items = inputs.tokens.lengths, inputs.items
        filled = np.flatnonzero(items.lengths)
        for batch in length_batches(words[filled], rows=BATCH_ROWS, cells=BATCH_CELLS):
            rows = filled[batch]
            some = inputs.take(rows)
            sizes = some.items.lengths
            width = int(sizes.max())
            real = torch.from_numpy(np.arange(width) < sizes[:, None])
            yield Batch(rows, items.cells(rows), real, partial(self._read, some, width), int(words[rows].max()))

    def _read(self, inputs: Inputs, width: int, rows: Tensor | None = None, shares: Tensor | None = None) -> Outcome:
        """Read documents whose words' vectors are shrunk; products are padded to `width` sentences."""
        model = self.model
        if rows is not None:
            inputs = inputs.take(rows.numpy())
        vectors = embedding(model.words(inputs), model.embedding)  # (N, E)
        if shares is not None:
            row_of_word = torch.from_numpy(inputs.tokens.row_of_value[inputs.groups.words])
            vectors = vectors * shares[row_of_word, None].to(vectors.dtype)
        leaf = vectors.detach().requires_grad_()
        with torch.enable_grad():
            states = model.encoder(model.items(leaf, inputs))  # (B, T, H)
            weights = model.attention(states, model.given(inputs)).values
            weights = weights.detach() if self.attention_fixed else weights
            logits = model.decoder((weights[:, None] @ states.values).squeeze(1), model.given(inputs))
        cells = torch.from_numpy(_cells(inputs, width))  # (N,) the padded cell of each word's sentence

        def product(gradient: Tensor) -> Tensor:
            (back,) = torch.autograd.grad(logits, leaf, gradient, retain_graph=True)
            each = (leaf.detach() * back).sum(dim=-1)  # (N,)
            return each.new_zeros(len(inputs) * width).index_add_(0, cells, each).view(-1, width)

        return Outcome(logits.detach(), product)


def _cells(inputs: Inputs, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """For each word, in the order in which the model reads them, the cell of its sentence among padded ones."""
    items = inputs.items
    cells = np.flatnonzero(np.arange(width) < items.lengths[:, None])  # of each sentence
    return np.asarray(np.repeat(cells, items.values)[inputs.groups.words])
