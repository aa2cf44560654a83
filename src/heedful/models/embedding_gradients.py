"""Gradients of word vectors in training, kept in one buffer per embedding table.

A buffer is filled and cleared only in the rows a batch touches, instead of being allocated and zeroed at each step.
"""

import torch
from torch import Tensor
from torch.nn.functional import embedding

from heedful.models.classifier import Classifier, Embedded


class Tables:
    """The word vectors of a model in training: those of texts and, where there are queries, those of queries."""

    def __init__(self, model: Classifier) -> None:
        self.text = TableGradient(model)
        self.query = None if model.question is None else TableGradient(model.question)
        self._all = [table for table in (self.text, self.query) if table is not None]
        kept = {id(table.reader.embedding) for table in self._all}
        self._others = [parameter for parameter in model.parameters() if id(parameter) not in kept]

    def clear_others(self) -> None:
        """No other parameter has a gradient any more."""
        for parameter in self._others:
            parameter.grad = None

    def fill(self) -> None:
        """Give the word vectors their gradients."""
        for table in self._all:
            table.fill()

    def clear(self) -> None:
        """Take them back."""
        for table in self._all:
            table.clear()


class TableGradient:
    """The dense gradient of an embedding table, kept between steps: only rows that a batch touches are written."""

    def __init__(self, reader: Embedded) -> None:
        self.reader = reader
        self.values = torch.zeros_like(reader.embedding)
        reader.embedding.grad = self.values
        self._rows, self._inputs = torch.empty(0, dtype=torch.int64), torch.empty(0)

    def embed(self, words: Tensor) -> Tensor:
        """Vectors (..., E) of words as leaves, where gradients end."""
        with torch.no_grad():
            vectors = embedding(words, self.reader.embedding)
        self._rows, self._inputs = words.flatten(), vectors.requires_grad_()
        return self._inputs

    def fill(self) -> None:
        """Add the gradients of the embedded tokens to their rows."""
        if self._inputs.grad is not None:
            self.values.index_add_(0, self._rows, self._inputs.grad.view(len(self._rows), -1))

    def clear(self) -> None:
        """Back to zero everywhere."""
        self.values.index_fill_(0, self._rows, 0.0)
