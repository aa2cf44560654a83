"""A classifier's logits and e . dy/de of every token, batch by batch, in bounded memory."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding, pad

from heedful.importance.fast.forms import forms_of
from heedful.importance.measure import Batch, Outcome
from heedful.models.attentions import Query
from heedful.models.batches import Inputs, Padded
from heedful.models.classifier import Classifier
from heedful.models.documents import Han
from heedful.ragged import length_batches

BATCH_ROWS = 128
BATCH_CELLS = 16_384  # padded cells a batch: a BiLSTM of the papers' size keeps some 15 kB of each


class Differentiator:
    """A classifier differentiated with respect to its embedded tokens, and nothing else; it is left as it is."""

    def __init__(self, model: Classifier, *, attention_fixed: bool) -> None:
        self.model = model
        self.encoder = forms_of(model).gradient(model.encoder)
        self.attend = self._attend_fixed if attention_fixed else self._attend
        self.edge = int(model.sentinels)  # cells on either side of a text that are no items

    def batches(self, inputs: Inputs) -> Iterator[Batch]:
        """Rows of similar length together."""
        tokens = inputs.tokens
        filled = np.flatnonzero(tokens.lengths)  # a text without tokens has no gradients
        for batch in length_batches(tokens.lengths[filled], rows=BATCH_ROWS, cells=BATCH_CELLS):
            rows = filled[batch]
            some = inputs.take(rows)
            framed = self.model.frame(some.tokens)
            words, places = np.unique(framed.values, return_inverse=True)
            vectors = self.encoder.project(self.model.embedding[torch.from_numpy(words)])  # (U, D)
            padded = Padded.of(framed.like(places))
            projected = vectors.index_select(0, padded.values.flatten()).view(*padded.values.shape, -1)
            read = partial(self._read, padded.with_values(projected), self.model.query(some))
            yield Batch(rows, tokens.cells(rows), self.model.inner(padded).mask, read, padded.values.shape[1])

    def _read(self, tokens: Padded, query: Query, rows: Tensor | None = None, shares: Tensor | None = None) -> Outcome:
        """Read projected tokens (B, T, D); sentinels do not shrink, and what is linear in a token shrinks with it."""
        if rows is not None:
            tokens = Padded(tokens.values.index_select(0, rows), tokens.lengths[rows])
            query = query.take(rows)
        if shares is not None:
            positions = torch.arange(tokens.values.shape[1])
            inside = (positions >= self.edge) & (positions < tokens.lengths[:, None] - self.edge)
            scales = torch.where(inside, shares[:, None].to(tokens.values.dtype), 1.0)
            tokens = tokens.with_values(tokens.values * scales[..., None])
        states, encoder_product = self.encoder.encode(tokens)
        logits, back = self.attend(self.model.inner(states), query)

        def product(gradient: Tensor) -> Tensor:
            total = encoder_product(pad(back(gradient), (0, 0, self.edge, self.edge)))
            return total[:, self.edge : total.shape[1] - self.edge]

        return Outcome(logits, product)

    def _attend_fixed(self, states: Padded, query: Query) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Logits, and gradients of logits to those of the states (B, T, H) under weights that stay as they are."""
        weights = self.model.attention(states, query).values  # (B, T)
        leaf = (weights[:, None] @ states.values).squeeze(1).detach().requires_grad_()  # (B, H)
        with torch.enable_grad():
            logits = self.model.decoder(leaf, query)

        def back(gradient: Tensor) -> Tensor:
            attended: Tensor = torch.autograd.grad(logits, leaf, gradient, retain_graph=True)[0]  # (B, H)
            states: Tensor = weights[..., None] * attended[:, None]
            return states

        return logits.detach(), back

    def _attend(self, states: Padded, query: Query) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """The same through attention."""
        leaf = states.values.detach().requires_grad_()
        with torch.enable_grad():
            weights = self.model.attention(states.with_values(leaf), query).values
            logits = self.model.decoder((weights[:, None] @ leaf).squeeze(1), query)
        return logits.detach(), lambda gradient: torch.autograd.grad(logits, leaf, gradient, retain_graph=True)[0]


class SentenceDifferentiator:
    """By autograd, with respect to the words' vectors. The word level is always differentiated through: it makes the
    items; what may be held fixed is the tested attention over them."""

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
            weights = model.attention(states, model.query(inputs)).values
            weights = weights.detach() if self.attention_fixed else weights
            logits = model.decoder((weights[:, None] @ states.values).squeeze(1), model.query(inputs))
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


def differentiable_batches(model: Classifier, inputs: Inputs, *, attention_fixed: bool) -> Iterator[Batch]:
    """Instances of similar length together; the model is left as it is."""
    if isinstance(model, Han):
        return SentenceDifferentiator(model, attention_fixed=attention_fixed).batches(inputs)
    return Differentiator(model, attention_fixed=attention_fixed).batches(inputs)
