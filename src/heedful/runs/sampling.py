"""A sample of instances, for what takes long."""

from collections.abc import Iterable

import numpy as np

from heedful.ragged import Indices
from heedful.randomness import Stream, keys


def sample(ids: Iterable[str], size: int, seed: int) -> Indices:
    """The rows of so many instances (0: of all), rising; whether one is drawn depends on its id, not on where it
    stands, and a larger sample holds a smaller one."""
    names = list(ids)
    if not size or size >= len(names):
        return np.arange(len(names))
    drawn = np.argsort(Stream(seed, "sample").bits(keys(names)), kind="stable")[:size]
    return np.sort(drawn)
