"""Training: maximum likelihood with Adam, selection on the dev split, a checkpoint each epoch.

The optimiser is the papers' (dense Adam statistics, dense L2); what is different is how fast it runs on a CPU. The
gradient of the embedding table lives in one buffer that is filled and cleared only in the rows a batch touches, instead
of being allocated and zeroed whole at each step, and Adam runs as one fused kernel.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from heedful.errors import BadConfig
from heedful.models.batching import training_batches
from heedful.models.checkpoint import Checkpoint
from heedful.models.classifier import Classifier, Embedded, padded_query
from heedful.models.inference import predict
from heedful.models.inputs import Inputs, with_sentinels
from heedful.models.metrics import classification_metrics
from heedful.models.options import TrainingOptions
from heedful.models.padded import Padded


class Examples(NamedTuple):
    """What a model reads, and what it should say."""

    inputs: Inputs
    labels: NDArray[np.int64]  # (n,); in dev, NO_LABEL where the answer is none of the classes


class Step(NamedTuple):
    """What a progress bar shows."""

    epoch: int
    step: int
    steps: int
    loss: float


def train(
    model: Classifier,
    training: Examples,
    dev: Examples,
    options: TrainingOptions,
    *,
    classes: tuple[str, ...],
    seed: int,
    checkpoint: Checkpoint,
    on_step: Callable[[Step], None] = lambda step: None,
) -> list[dict[str, Any]]:
    """Train the model and return one record an epoch; the parameters selected on dev are those of `checkpoint.best`.

    Goes on from the checkpoint if there is one; the result is the same as that of an undisturbed training.
    """
    optimiser = make_optimiser(model, options)
    history = checkpoint.resume(model, optimiser)
    weights = class_weights(training.labels, len(classes)) if options.class_weights else torch.ones(len(classes))
    labels = torch.from_numpy(training.labels)
    tables = Tables(model)
    for epoch in range(len(history), options.epochs):
        total = 0.0
        batches = training_batches(training.inputs.tokens.lengths, size=options.batch, seed=seed, epoch=epoch)
        for step, rows in enumerate(batches, start=1):
            loss_of = partial(batch_loss, labels=labels[rows], weights=weights, reduction=options.loss)
            loss = train_step(model, optimiser, tables, training.inputs.take(rows), loss_of)
            if options.loss == "sum":  # report one scale: the loss of an instance
                loss /= len(rows)
            if not math.isfinite(loss):
                raise BadConfig(f"training diverged in epoch {epoch + 1}, step {step}: lower learning_rate")
            total += loss * len(rows)
            on_step(Step(epoch, step, len(batches), loss))
        output = predict(model, dev.inputs)
        if not np.isfinite(output).all():
            raise BadConfig(f"training diverged in epoch {epoch + 1}: lower learning_rate")
        metrics = classification_metrics(dev.labels, output, classes)
        history.append({"epoch": epoch, "loss": total / len(labels), "dev": metrics})
        if selected_epoch(history, options.select) == epoch:
            checkpoint.save_best(model)
        checkpoint.save(model, optimiser, history)
    return history


def selected_epoch(history: list[dict[str, Any]], metric: str) -> int:
    """The first epoch with the best dev metric; accuracy decides where the metric is undefined (one class in dev)."""
    values = [record["dev"][metric] for record in history]
    if None in values:
        values = [record["dev"]["accuracy"] for record in history]
    return int(np.argmax(values))


def class_weights(labels: NDArray[np.int64], classes: int) -> Tensor:
    """Two classes: 1 and #negative/#positive, as in the released code; more: inverse frequency, 1 on average."""
    counts = np.maximum(np.bincount(labels, minlength=classes), 1)  # a class that never occurs needs no weight
    weights = counts[0] / counts if classes == 2 else len(labels) / (classes * counts)
    return torch.from_numpy(weights.astype(np.float32))


def make_optimiser(model: Classifier, options: TrainingOptions) -> torch.optim.Optimizer:
    """Adam with L2 on all parameters, or on all but those of the attention."""
    attention = list(model.attention.parameters())
    rest = [parameter for name, parameter in model.named_parameters() if not name.startswith("attention.")]
    groups = [
        {"params": rest, "weight_decay": options.l2},
        {"params": attention, "weight_decay": options.l2 if options.l2_on_attention else 0.0},
    ]
    return torch.optim.Adam(groups, lr=options.learning_rate, amsgrad=options.amsgrad, fused=True)


def batch_loss(logits: Tensor, labels: Tensor, weights: Tensor, reduction: str) -> Tensor:
    """Weighted negative log-likelihood of a batch, its mean or sum over instances."""
    if logits.shape[1] == 1:
        losses = binary_cross_entropy_with_logits(logits.squeeze(1), labels.to(logits.dtype), reduction="none")
    else:
        losses = cross_entropy(logits, labels, reduction="none")
    weighted = losses * weights[labels]
    return weighted.sum() if reduction == "sum" else weighted.mean()


def train_step(
    model: Classifier,
    optimiser: torch.optim.Optimizer,
    tables: "Tables",
    inputs: Inputs,
    loss_of: Callable[[Tensor], Tensor],
) -> float:
    """One optimiser step on one batch; `loss_of` turns logits into the loss, whose value is returned."""
    embedded = tables.text.embed(Padded.of(with_sentinels(inputs.tokens)))
    queries = None if tables.query is None else tables.query.embed(padded_query(inputs))
    loss = loss_of(model(embedded, model.asked(queries, inputs.candidates)).logits)
    tables.clear_others()
    loss.backward()  # type: ignore[no-untyped-call]
    tables.fill()
    optimiser.step()
    tables.clear()
    return loss.item()


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

    def embed(self, tokens: Padded) -> Padded:
        """Embedded tokens (B, T, E) as leaves, where gradients end."""
        with torch.no_grad():
            embedded = self.reader.embed(tokens)
        self._rows, self._inputs = tokens.values.flatten(), embedded.values.requires_grad_()
        return embedded

    def fill(self) -> None:
        """Add the gradients of the embedded tokens to their rows."""
        if self._inputs.grad is not None:
            self.values.index_add_(0, self._rows, self._inputs.grad.flatten(0, 1))

    def clear(self) -> None:
        """Back to zero everywhere."""
        self.values.index_fill_(0, self._rows, 0.0)
