"""The order of training: batches of nearly equal lengths, drawn anew each epoch."""

import numpy as np

from heedful.ragged import Indices
from heedful.randomness import Stream

LENGTH_NOISE = 0.1  # lengths are blurred by up to this share before sorting, so that batches differ between epochs


def training_batches(lengths: Indices, *, size: int, seed: int, epoch: int) -> list[Indices]:
    """Every row once: sorted by blurred length, cut into batches of `size`, the batches shuffled."""
    draw = Stream(seed, "batches").generator(epoch)
    rows = draw.permutation(len(lengths))  # so that rows of equal length fall together differently each time
    reach = np.floor(lengths[rows] * LENGTH_NOISE).astype(np.int64)
    blurred = lengths[rows] + draw.integers(-reach, reach + 1)
    rows = rows[np.argsort(blurred, kind="stable")]
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    return [batches[index] for index in draw.permutation(len(batches))]
