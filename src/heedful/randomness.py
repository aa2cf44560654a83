"""Counter-based randomness: (seed, purpose, instance, draw, position) -> a number, the same in any order and batch.

A generator that is advanced draw by draw ties a result to everything drawn before it. Here each number is a hash of
its own coordinates, so that batch size, order, workers and other experiments cannot change it.
"""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from heedful.ragged import Indices

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class Stream:
    """The random numbers of one seed and purpose.

    >>> stream = Stream(0, "example")
    >>> bool(stream.uniform(keys(["a", "b"]), 0)[1] == stream.uniform(keys(["b"]), 0)[0])
    True
    """

    seed: int
    purpose: str

    def bits(self, *coordinates: ArrayLike) -> NDArray[np.uint64]:
        """64 random bits for each broadcast coordinate."""
        with np.errstate(over="ignore"):  # arithmetic is modulo 2**64
            bits = _mix(np.asarray(self.integer(), dtype=np.uint64))
            for coordinate in coordinates:
                bits = _mix(_mix(np.asarray(coordinate).astype(np.uint64)) + bits * _GOLDEN)
        return bits

    def uniform(self, *coordinates: ArrayLike) -> NDArray[np.float64]:
        """Uniform numbers in the open interval (0, 1), one for each broadcast coordinate."""
        return ((self.bits(*coordinates) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def orders(self, lengths: ArrayLike, *coordinates: ArrayLike) -> NDArray[np.int64]:
        """Random orders of 0..length-1, one for each broadcast coordinate: (..., T), T the greatest length.

        A row shorter than T has its own positions first, then those beyond it.
        """
        sizes = np.asarray(lengths)[..., None]  # (..., 1)
        positions = np.arange(int(sizes.max(initial=0)))  # (T,)
        drawn = self.uniform(*(np.asarray(coordinate)[..., None] for coordinate in coordinates), positions)
        return np.where(positions < sizes, drawn, np.inf).argsort(axis=-1)

    def normal(self, *coordinates: ArrayLike) -> NDArray[np.float64]:
        """Standard normal numbers, one for each broadcast coordinate."""
        return np.asarray(ndtri(self.uniform(*coordinates)), dtype=np.float64)

    def generator(self, *coordinates: int | str) -> np.random.Generator:
        """An ordinary generator of its own, for what is drawn as a whole (a shuffle, a split)."""
        return np.random.default_rng(self.integer(*coordinates))

    def integer(self, *coordinates: int | str) -> int:
        """A 63-bit number of its own, to seed what has a generator of its own."""
        return _hash("\x1f".join(map(str, (self.seed, self.purpose, *coordinates)))) >> 1


def keys(names: Iterable[str]) -> NDArray[np.uint64]:
    """Coordinates of named things (instance ids, words): 64-bit hashes of their names."""
    return np.fromiter((_hash(name) for name in names), dtype=np.uint64)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014): every input bit reaches every output bit."""
    bits = np.asarray(bits) + _GOLDEN
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def sample(ids: Collection[str], size: int, seed: int) -> Indices:
    """The rows of so many instances (0: of all), rising; whether one is drawn depends on its id, not on where it
    stands, and a larger sample holds a smaller one."""
    if not size or size >= len(ids):
        return np.arange(len(ids))
    drawn = np.argsort(Stream(seed, "sample").bits(keys(ids)), kind="stable")[:size]
    return np.sort(drawn)
