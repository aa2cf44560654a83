"""Training: maximum likelihood with Adam, selection on the dev split, a checkpoint each epoch.

The optimiser is the papers' (dense Adam statistics, dense L2), made fast on a CPU: gradients of word vectors live in
buffers of their own (`embedding_gradients.py`), and Adam runs as one fused kernel.
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
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from heedful.errors import BadConfig
from heedful.models.batches import Inputs
from heedful.models.checkpoint import Checkpoint
from heedful.models.classifier import Classifier, padded_query
from heedful.models.embedding_gradients import Tables
from heedful.models.inference import predict
from heedful.models.metrics import classification_metrics
from heedful.models.options import TrainingOptions
from heedful.models.schedule import finished, learning_rate, selected_epoch, training_batches
from heedful.randomness import Stream


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
    Goes on from the checkpoint if there is one; the result is the same as that of an undisturbed training."""
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
        padded = padded_query(inputs)
        queries = padded.with_values(tables.query.embed(padded.values))
    loss = loss_of(model(items, model.encoded_query(queries, inputs.candidates)).logits)
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
