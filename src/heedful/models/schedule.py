"""How training goes on: all of it follows from the record of the epochs before, so that it can be resumed."""

from typing import Any

import numpy as np

from heedful.models.options import TrainingOptions

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
