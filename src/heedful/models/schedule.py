"""The schedule of training: the batches of each epoch, its learning rate, when to stop, which epoch to keep."""

from typing import Any

import numpy as np

from heedful.models.batches import Inputs
from heedful.models.options import TrainingOptions
from heedful.ragged import Indices
from heedful.randomness import Stream

LENGTH_NOISE = 0.1  # lengths are blurred by up to this share before sorting, so that batches differ between epochs
CLEARLY = 1e-4  # by how much a metric must grow, as a share of it, for the learning rate not to fall

History = list[dict[str, Any]]  # one record an epoch


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
