"""Pretrained word vectors and the embedding matrix made from them.

Files are streamed: GloVe's text, fastText's `.vec` (a header, then text), word2vec's binary `.bin`.
"""

import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.bounds import Budget, bounded, bounded_lines, longest, too_long
from heedful.damage import first_line, unreadable
from heedful.errors import BadInput, NotFound
from heedful.randomness import Stream, keys

Rows = dict[int, NDArray[np.float32]]  # word index -> vector
Missing = Literal["normal", "zero"]

_BLOCK = 4096  # words drawn at a time
_PICKLE = b"\x80"  # how gensim's own files begin
_PICKLED_NAMES = (".kv", ".model", ".pkl", ".pickle", ".npy")
_CHUNK = 1 << 20


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
    rows = _read_rows(path, {word.encode(): index for index, word in enumerate(words)}, width)
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
    """The embedding matrix (V, width) to start from: the vectors found; else N(0, 1) (the paper) or zero (its code). A
    missing word's numbers depend on the seed and the word alone, not on the rest of the vocabulary."""
    matrix = np.zeros((len(words), width), dtype=np.float32)
    if missing == "normal":
        without = np.arange(len(words)) if found is None else np.flatnonzero(~found.found)
        stream = Stream(seed, "vectors")
        for start in range(0, len(without), _BLOCK):  # drawing takes several times the memory of its result
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


def _read_rows(path: Path, wanted: Mapping[bytes, int], width: int) -> Rows:
    """The rows of the wanted words, by their index; reading stops once all are found."""
    if not path.is_file():
        raise NotFound(f"no file of vectors at {path}")
    try:
        with _opened(path) as file:
            _refuse_pickle(path, file)
            if path.name.removesuffix(".gz").endswith(".bin"):
                return _binary_rows(path, file, wanted, width)
            return _text_rows(path, file, wanted, width)
    except (EOFError, zlib.error, OSError, ValueError, OverflowError) as error:
        problem = f" is damaged or was cut short ({first_line(error)}): download or copy it again"
        raise unreadable(path, problem, error) from error


def _opened(path: Path) -> IO[bytes]:
    if path.suffix != ".gz":
        return path.open("rb")
    return bounded(cast("IO[bytes]", gzip.open(path, "rb")), Budget(path))


def _refuse_pickle(path: Path, file: IO[bytes]) -> None:
    start = cast("BufferedReader", file).peek(2)[:2]
    if start[:1] == _PICKLE or path.suffix in _PICKLED_NAMES:
        raise BadInput(
            f"{path} is in gensim's own format, a pickle, which can run any code when loaded and is not read: save the "
            'vectors with `save_word2vec_format("vectors.bin", binary=True)`'
        )
    if start == b"PK":
        raise BadInput(f"{path} is a zip: unpack it, or pack the text inside as .gz")


def _text_rows(path: Path, file: IO[bytes], wanted: Mapping[bytes, int], width: int) -> Rows:
    rows: Rows = {}
    promised: int | None = None  # the number of rows that a header announces
    number = 0
    for number, line in enumerate(bounded_lines(file, str(path)), start=1):
        if number == 1:
            promised = _header(path, line, width)
            if promised is not None:
                continue
            _check_width(path, number, len(line.split()) - 1, width)
        word, _, numbers = line.partition(b" ")
        index = wanted.get(word)
        if index is None or index in rows:
            continue
        fields = numbers.split()
        if len(fields) > width:
            continue  # a word that contains spaces, as some of glove.840B do, and only begins like a wanted one
        _check_width(path, number, len(fields), width)
        rows[index] = _numbers(fields, f"{path}, line {number}")
        if len(rows) == len(wanted):
            return rows
    if number == 0:
        raise BadInput(f"{path} is empty")
    if promised is not None and number - 1 < promised:
        raise _cut_short(path, number - 1, promised)
    return rows


def _header(path: Path, line: bytes, width: int) -> int | None:
    """The number of rows, if the line is a header "rows width"."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields) or width == 1:
        return None
    _check_width(path, 1, int(fields[1]), width)
    return int(fields[0])


def _binary_rows(path: Path, file: IO[bytes], wanted: Mapping[bytes, int], width: int) -> Rows:
    promised = _header(path, file.readline(100), width)
    if promised is None:
        raise BadInput(f'{path} does not begin with "rows width": it is not in word2vec\'s binary format')
    rows: Rows = {}
    buffer, place, most = b"", 0, longest()
    for number in range(1, promised + 1):
        while (space := buffer.find(b" ", place)) < 0 or len(buffer) < space + 1 + 4 * width:
            if len(buffer) - place > most:
                raise too_long(f"{path}, row {number}", most)
            more = file.read(_CHUNK)
            if not more:
                raise _cut_short(path, number - 1, promised)
            buffer, place = buffer[place:] + more, 0
        index = wanted.get(buffer[place:space].lstrip(b"\n"))  # the original program ends each row with a line break
        if index is not None and index not in rows:
            rows[index] = np.frombuffer(buffer, dtype="<f4", count=width, offset=space + 1).astype(np.float32)
            _check_finite(rows[index], f"{path}, row {number}")
            if len(rows) == len(wanted):
                break
        place = space + 1 + 4 * width
    return rows


def _cut_short(path: Path, rows: int, promised: int) -> BadInput:
    return BadInput(f"{path} was cut short: {rows:,} rows, its header promises {promised:,}; download it again")


def _numbers(fields: list[bytes], where: str) -> NDArray[np.float32]:
    try:
        row = np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError as error:
        raise BadInput(f"{where}: not a number ({error}); is it a file of word vectors?") from error
    _check_finite(row, where)
    return row


def _check_finite(row: NDArray[np.float32], where: str) -> None:
    if not np.isfinite(row).all():
        raise BadInput(f"{where}: a number that is not finite; a model cannot be trained on it")


def _check_width(path: Path, number: int, width: int, wanted: int) -> None:
    if width != wanted:
        raise BadInput(
            f"{path}, line {number}: vectors of {width} dimensions, but {wanted} are wanted; take another file, or set "
            "the width of the embedding to that of the vectors"
        )
