"""Pretrained word vectors: only the rows of the vocabulary are kept, and missing words get theirs by their own name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import BadInput
from heedful.randomness import Stream, keys
from heedful.text.vector_files import read_rows

Missing = Literal["normal", "zero"]

_BLOCK = 4096  # words drawn at a time


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of those words of a vocabulary that have one."""

    rows: NDArray[np.float32]  # (F, width), F = found.sum(), in the order of the vocabulary
    found: NDArray[np.bool_]  # (V,)


@dataclass(frozen=True)
class Coverage:
    """How much of a vocabulary, and of the running text, has a pretrained vector."""

    found: int
    total: int
    tokens: float  # the share of running tokens, in [0, 1]

    @classmethod
    def of(cls, found: NDArray[np.bool_], frequencies: ArrayLike) -> "Coverage":
        """From the words found and how often each word of the vocabulary occurs."""
        counts = np.asarray(frequencies, dtype=np.float64)
        return cls(int(found.sum()), len(found), float(counts[found].sum() / max(counts.sum(), 1)))

    def __str__(self) -> str:
        share = 100 * self.found / max(self.total, 1)
        words = f"{self.found:,} of {self.total:,} words ({share:.1f} %)"
        return f"vectors: {words}, {100 * self.tokens:.1f} % of running tokens"


def read_vectors(path: Path, words: Sequence[str], width: int) -> Vectors:
    """The vectors of `words` in a file: GloVe or `.vec` text, plain or .gz, or word2vec's binary `.bin`."""
    rows = read_rows(path, {word.encode(): index for index, word in enumerate(words)}, width)
    return _collected(rows, len(words), width)


def from_keyed_vectors(keyed: Any, words: Sequence[str]) -> Vectors:
    """The vectors of `words` in gensim's KeyedVectors, or anything with its `key_to_index` and `vectors`."""
    places = keyed.key_to_index
    matrix = np.asarray(keyed.vectors, dtype=np.float32)
    rows = {index: matrix[places[word]] for index, word in enumerate(words) if word in places}
    return _collected(rows, len(words), matrix.shape[1])


def initial_embedding(
    words: Sequence[str], *, width: int, seed: int, found: Vectors | None = None, missing: Missing = "normal"
) -> NDArray[np.float32]:
    """The embedding matrix (V, width) to start from: the vectors found; else N(0, 1) (the paper) or zero (its code).

    A missing word's numbers depend on the seed and the word alone, not on the rest of the vocabulary.
    """
    matrix = np.zeros((len(words), width), dtype=np.float32)
    if missing == "normal":
        without = np.arange(len(words)) if found is None else np.flatnonzero(~found.found)
        stream = Stream(seed, "vectors")
        for start in range(
            0, len(without), _BLOCK
        ):  # in blocks: the draws need several times the memory of their result
            block = without[start : start + _BLOCK]
            matrix[block] = stream.normal(keys(words[index] for index in block)[:, None], np.arange(width))
    if found is not None:
        if found.rows.shape[1] != width:
            raise BadInput(f"the vectors have {found.rows.shape[1]} dimensions, but the embedding is to have {width}")
        matrix[found.found] = found.rows
    return matrix


def _collected(rows: dict[int, NDArray[np.float32]], total: int, width: int) -> Vectors:
    found = np.zeros(total, dtype=np.bool_)
    found[list(rows)] = True
    matrix = np.empty((len(rows), width), dtype=np.float32)
    for place, index in enumerate(sorted(rows)):
        matrix[place] = rows[index]
    return Vectors(matrix, found)
