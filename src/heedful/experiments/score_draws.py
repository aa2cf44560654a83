"""How far accuracy and macro F1 would have come out otherwise with other instances: bootstrap draws of both."""

import numpy as np

from heedful.experiments.arrays import Floats, Indices
from heedful.randomness import Stream
from heedful.validation import NO_LABEL


def score_draws(labels: Indices, decisions: Indices, *, seed: int, draws: int) -> tuple[Floats, Floats]:
    """Accuracy and macro F1 of so many draws of instances, (draws, S) each, for labels (n,) and the decisions (n, S) of
    S deciders. All deciders see the same draws, so that their differences can be taken.

    A draw is of the numbers of instances with the same label and decisions: there are few different ones. The mean of
    F1 is over the classes that occur in a draw as label or decision; an instance without a label counts as missed.
    """
    alike, counts = np.unique(np.column_stack([labels, decisions]), axis=0, return_counts=True)  # (U, 1 + S), (U,)
    generator = Stream(seed, "bootstrap of scores").generator()
    times = generator.multinomial(len(labels), counts / len(labels), size=draws).astype(np.float64)  # (draws, U)
    classes = np.setdiff1d(alike, [NO_LABEL])  # (C,)
    label = np.equal.outer(alike[:, 0], classes)  # (U, C)
    accuracies, scores = [], []
    for decision in alike.T[1:]:
        decided = np.equal.outer(decision, classes)
        right = times @ (label & decided)  # (draws, C)
        sizes = times @ (label.astype(np.float64) + decided)  # twice what F1 divides by
        f1 = np.divide(2 * right, sizes, out=np.full_like(sizes, np.nan), where=sizes > 0)
        accuracies.append(right.sum(axis=1) / len(labels))
        scores.append(np.nanmean(f1, axis=1))
    return np.stack(accuracies, axis=1), np.stack(scores, axis=1)
