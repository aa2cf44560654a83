"""From a corpus on disk to what a model reads, batch by batch: word indices take a fraction of the memory of words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.corpora.corpus import Corpus
from heedful.models.inputs import Inputs
from heedful.models.training import Examples
from heedful.nested import Kind, ragged
from heedful.ragged import Ragged
from heedful.text.vocabulary import Vocabulary
from heedful.validation import NO_LABEL

READ = ("id", "tokens", "query", "candidates", "words", "sentences")  # columns of evidence that a model reads
BATCH = 2048  # instances as text in memory at a time


def inputs_of(frame: pl.DataFrame, vocabulary: Vocabulary, *, sentences: bool = False) -> Inputs:
    """The columns `tokens` and, where they are there, `query` and `candidates`, of a corpus or of evidence; if the
    items are to be `sentences`, their words and lengths.
    """
    words = "words" if sentences and "words" in frame.columns else "tokens"  # in evidence, tokens are the items
    return Inputs(
        vocabulary.encode(frame[words]),
        vocabulary.encode(frame["query"]) if "query" in frame.columns else None,
        ragged(frame, "candidates", "indices", "candidates") if "candidates" in frame.columns else None,
        ragged(frame, "sentences", "indices", "sentences") if sentences else None,
    )


def items_of(frame: pl.DataFrame, where: str, *, sentences: bool) -> dict[str, Any]:
    """What evidence says of the items of a corpus's instances: their texts, and what else the corpus knows of them."""
    columns: dict[str, Kind] = {"tokens": "text", "query": "text", "sentences": "indices", "truth": "flags"}
    known = {name: ragged(frame, name, kind, where) for name, kind in columns.items() if name in frame.columns}
    if sentences:
        known["words"] = known["tokens"]
        known["tokens"] = known["sentences"].like(_texts(known["words"], known["sentences"]))
        if "truth" in known:  # a sentence decides if a word of it does
            deciding = Ragged.from_lengths(known["truth"].values, known["sentences"].values).sum() > 0
            known["truth"] = known["sentences"].like(deciding)
    return known


def _texts(words: Ragged, sentences: Ragged) -> NDArray[Any]:
    texts = np.empty(len(sentences.values), dtype=object)
    texts[:] = [" ".join(sentence) for sentence in Ragged.from_lengths(words.values, sentences.values)]
    return texts


def labels_of(frame: pl.DataFrame) -> NDArray[np.int64]:
    """The column `label`; NO_LABEL where the answer is none of the classes."""
    return frame["label"].cast(pl.Int64).fill_null(NO_LABEL).to_numpy()


def examples(corpus: Corpus, split: str, vocabulary: Vocabulary, *, sentences: bool) -> Examples:
    """All of a split."""
    frames = corpus.batches(split, BATCH)
    parts = [(inputs_of(frame, vocabulary, sentences=sentences), labels_of(frame)) for frame in frames]
    read, labels = zip(*parts, strict=True)
    inputs = Inputs(
        _joined([one.tokens for one in read]),
        _joined([one.query for one in read if one.query is not None]) if corpus.query else None,
        _joined([one.candidates for one in read if one.candidates is not None]) if read[0].candidates else None,
        _joined([one.sentences for one in read if one.sentences is not None]) if sentences else None,
    )
    return Examples(inputs, np.concatenate(labels))


def word_counts(corpus: Corpus, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """How often each word of the vocabulary occurs in the texts of the training split, (V,)."""
    counts = np.zeros(len(vocabulary), dtype=np.int64)
    for frame in corpus.batches("train", BATCH):
        counts += np.bincount(vocabulary.encode(frame["tokens"]).values, minlength=len(vocabulary))
    return counts


def _joined(parts: Sequence[Ragged]) -> Ragged:
    values = np.concatenate([part.values for part in parts])
    return Ragged.from_lengths(values, np.concatenate([part.lengths for part in parts]))
