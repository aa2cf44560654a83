"""How training goes on: all of it follows from the record of the epochs before, so that it can be resumed."""

from typing import Any

import numpy as np

from heedful.models.options import TrainingOptions

History = list[dict[str, Any]]  # one record an epoch


def selected_epoch(history: History, metric: str) -> int:
    """The first epoch with the best dev metric; accuracy decides where the metric is undefined (one class in dev)."""
    values = [record["dev"][metric] for record in history]
    if None in values:
        values = [record["dev"]["accuracy"] for record in history]
    return int(np.argmax(values))


def finished(history: History, options: TrainingOptions) -> bool:
    """Whether all epochs are done, or patience has run out."""
    done = len(history)
    tired = bool(options.patience and done) and done - 1 - selected_epoch(history, options.select) >= options.patience
    return done >= options.epochs or tired


def learning_rate(history: History, options: TrainingOptions) -> float:
    """Of the next epoch: it falls after every epoch that was not the best so far."""
    epochs = range(len(history))
    worse = sum(selected_epoch(history[: epoch + 1], options.select) != epoch for epoch in epochs)
    return float(options.learning_rate * options.decay**worse)
