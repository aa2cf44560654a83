"""Train word2vec on a corpus, reproducibly.

Jain & Wallace 2019 on MIMIC: 300 dimensions, window 10, words that occur twice. Serrano & Smith 2019: 200 dimensions,
window 5, 30 epochs, rows scaled to length 1.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import polars as pl

from heedful.errors import BadInput, MissingExtra
from heedful.text.vocabulary import SPECIAL, UNKNOWN

_LONGEST = 10_000  # gensim ignores the rest of a longer list
_ROWS = 2_000  # texts in memory at a time


class TokenLists:
    """The tokens of a corpus by text or, where texts are cut, by sentence: `TokenLists(corpus.scan("train"))`.

    It can be iterated repeatedly. With `known` words, any other becomes `<unk>`, which has a vector of its own (Serrano
    & Smith 2019).
    """

    def __init__(self, frame: pl.LazyFrame, column: str = "tokens", *, known: Container[str] | None = None) -> None:
        self._cut = column == "tokens" and "sentences" in frame.collect_schema()
        self._frame = frame.select(column, "sentences") if self._cut else frame.select(column)
        self._known = known

    def __iter__(self) -> Iterator[list[str]]:
        for batch in self._frame.collect_batches(chunk_size=_ROWS, maintain_order=True):
            texts = map(self._words, batch.to_series().to_list())
            yield from _cut(texts, batch["sentences"].to_list()) if self._cut else texts

    def _words(self, tokens: list[str]) -> list[str]:
        known = self._known
        return tokens if known is None else [token if token in known else SPECIAL[UNKNOWN] for token in tokens]


def train_word2vec(
    texts: Iterable[Sequence[str]],
    *,
    width: int,
    window: int,
    min_count: int,
    epochs: int,
    seed: int,
    normalise: bool = False,
) -> Any:
    """gensim's KeyedVectors of the words that occur at least `min_count` times; `texts` are read several times. One
    worker and an explicit seed: the same texts in the same order give the same vectors in any process."""
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise MissingExtra("gensim", "papers", "training word vectors") from error
    pieces = _Pieces(texts)
    fixed = {"seed": seed % 2**32, "workers": 1, "hashfxn": _stable}
    model = Word2Vec(vector_size=width, window=window, min_count=min_count, epochs=epochs, **fixed)
    model.build_vocab(pieces)
    pieces.check()
    if not len(model.wv):
        raise BadInput(f"no word occurs {min_count} times or more: there is nothing to train vectors on")
    model.train(pieces, total_examples=model.corpus_count, epochs=epochs)
    pieces.check()
    if normalise:
        model.wv.unit_normalize_all()
    return model.wv


def _cut(texts: Iterable[list[str]], sentences: Iterable[list[int]]) -> Iterator[list[str]]:
    for words, lengths in zip(texts, sentences, strict=True):
        for end, length in zip(accumulate(lengths), lengths, strict=True):
            yield words[end - length : end]


class _Pieces:
    """Long texts in pieces of the length that gensim takes."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        if iter(texts) is texts:
            raise TypeError("texts are read several times: give a list or TokenLists, not a generator")
        self._texts = texts
        self.error: Exception | None = None  # gensim reads them in a thread, and would wait for ever if that failed

    def __iter__(self) -> Iterator[Sequence[str]]:
        try:
            for text in self._texts:
                for start in range(0, len(text), _LONGEST):
                    yield text[start : start + _LONGEST]
        except Exception as error:
            self.error = error

    def check(self) -> None:
        """Raise what went wrong while the texts were read."""
        if self.error is not None:
            raise self.error


def _stable(word: str) -> int:
    """A hash that is the same in every process, unlike Python's own."""
    return int.from_bytes(word.encode()[:8].ljust(8, b"\0"), "little")
