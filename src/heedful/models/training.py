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
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, embedding
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from heedful.errors import BadConfig
from heedful.models.batches import Inputs
from heedful.models.checkpoint import Checkpoint
from heedful.models.classifier import Classifier, Embedded, padded_query
from heedful.models.inference import predict
from heedful.models.metrics import classification_metrics
from heedful.models.options import TrainingOptions
from heedful.ragged import Indices
from heedful.randomness import Stream

LENGTH_NOISE = 0.1  # lengths are blurred by up to this share before sorting, so that batches differ between epochs


def training_batches(inputs: Inputs, *, size: int, seed: int, epoch: int, tokens: int = 0) -> list[Indices]:
    """Every row once: sorted by blurred length, cut into batches of `size`, the batches shuffled.

    With a limit on `tokens`, batches are cut further until a batch's rows times its longest row (its longest sentence,
    where the items are sentences) are so many at most.
    """
    lengths = inputs.tokens.lengths
    draw = Stream(seed, "batches").generator(epoch)
    rows = draw.permutation(len(lengths))  # so that rows of equal length fall together differently each time
    reach = np.floor(lengths[rows] * LENGTH_NOISE).astype(np.int64)
    blurred = lengths[rows] + draw.integers(-reach, reach + 1)
    rows = rows[np.argsort(blurred, kind="stable")]
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    if tokens:
        longest = lengths if inputs.sentences is None else inputs.sentences.max()
        batches = [part for batch in batches for part in _within(batch, longest[batch], tokens)]
    return [batches[index] for index in draw.permutation(len(batches))]


def _within(batch: Indices, longest: Indices, tokens: int) -> list[Indices]:
    """A batch in as few equal parts as the limit allows, one row each at least."""
    for parts in range(1, len(batch) + 1):
        cut = np.array_split(np.arange(len(batch)), parts)
        if all(len(part) * longest[part].max() <= tokens for part in cut):
            return [batch[part] for part in cut]
    return [batch[row : row + 1] for row in range(len(batch))]


CLEARLY = 1e-4  # by how much a metric must grow, as a share of it, for the learning rate not to fall

History = list[dict[str, Any]]  # one record an epoch


def selected_epoch(history: History, metric: str) -> int:
    """The first epoch with the best dev metric; accuracy decides where the metric is undefined (one class in dev)."""
    return int(np.argmax(_values(history, metric)))


def finished(history: History, options: TrainingOptions) -> bool:
    """Whether all epochs are done, or patience has run out."""
    done = len(history)
    tired = bool(options.patience and done) and done - 1 - selected_epoch(history, options.select) >= options.patience
    return done >= options.epochs or tired


def learning_rate(history: History, options: TrainingOptions) -> float:
    """Of the next epoch: it falls after every epoch that was not clearly the best so far (torch's ReduceLROnPlateau
    without patience)."""
    best, worse = -np.inf, 0
    for value in _values(history, options.select):
        if value > best * (1 + CLEARLY):
            best = value
        else:
            worse += 1
    return float(options.learning_rate * options.decay**worse)


def _values(history: History, metric: str) -> list[float]:
    values = [record["dev"][metric] for record in history]
    return [record["dev"]["accuracy"] for record in history] if None in values else values


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
    while not finished(history, options):
        epoch = len(history)
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(history, options)
        model.train()
        loss = _epoch(model, optimiser, training, weights, options, seed=seed, epoch=epoch, on_step=on_step)
        model.eval()
        if options.max_norm:  # as it will be read
            bound_vectors(model.embedding, options.max_norm)
        output = predict(model, dev.inputs)
        if not np.isfinite(output).all():
            raise BadConfig(f"training diverged in epoch {epoch + 1}: lower learning_rate")
        metrics = classification_metrics(dev.labels, output, classes)
        history.append({"epoch": epoch, "loss": loss, "dev": metrics})
        if selected_epoch(history, options.select) == epoch:
            checkpoint.save_best(model)
        checkpoint.save(model, optimiser, history)
    return history


def _epoch(
    model: Classifier,
    optimiser: torch.optim.Optimizer,
    training: Examples,
    weights: Tensor,
    options: TrainingOptions,
    *,
    seed: int,
    epoch: int,
    on_step: Callable[[Step], None],
) -> float:
    """Go through all examples once; the mean loss of an instance."""
    labels, tables, total = torch.from_numpy(training.labels), Tables(model), 0.0
    dropout = Stream(seed, "dropout")
    batches = training_batches(training.inputs, size=options.batch, tokens=options.batch_tokens, seed=seed, epoch=epoch)
    with torch.random.fork_rng(devices=[]):
        for step, rows in enumerate(batches, start=1):
            torch.manual_seed(dropout.integer(epoch, step))  # what is left out depends on the step, not on the past
            loss_of = partial(batch_loss, labels=labels[rows], weights=weights, reduction=options.loss)
            loss = train_step(model, optimiser, tables, training.inputs.take(rows), loss_of, options=options)
            if options.loss == "sum":  # report one scale: the loss of an instance
                loss /= len(rows)
            if not math.isfinite(loss):
                raise BadConfig(f"training diverged in epoch {epoch + 1}, step {step}: lower learning_rate")
            total += loss * len(rows)
            on_step(Step(epoch, step, len(batches), loss))
    return total / len(labels)


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
    tables: Tables,
    inputs: Inputs,
    loss_of: Callable[[Tensor], Tensor],
    *,
    options: TrainingOptions,
) -> float:
    """One optimiser step on one batch; `loss_of` turns logits into the loss, whose value is returned."""
    words = model.words(inputs)
    if options.max_norm:
        bound_vectors(model.embedding, options.max_norm, words)
    items = model.items(tables.text.embed(words), inputs)
    queries = None
    if tables.query is not None:
        asked = padded_query(inputs)
        queries = asked.with_values(tables.query.embed(asked.values))
    loss = loss_of(model(items, model.asked(queries, inputs.candidates)).logits)
    tables.clear_others()
    loss.backward()  # type: ignore[no-untyped-call]
    tables.fill()
    if options.clip_norm:
        clip_grad_norm_(model.parameters(), options.clip_norm)
    if options.clip_value:
        clip_grad_value_(model.parameters(), options.clip_value)
    optimiser.step()
    tables.clear()
    return loss.item()


def bound_vectors(vectors: Tensor, norm: float, words: Tensor | None = None) -> None:
    """Shorten vectors (V, E), or those of some words, to at most the norm."""
    rows = torch.arange(len(vectors)) if words is None else words.flatten()
    with torch.no_grad():
        torch.embedding_renorm_(vectors, rows, norm, 2.0)
