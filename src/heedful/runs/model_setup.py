"""From a corpus on disk to a model and its inputs; word indices take a fraction of the memory of words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray

from heedful.corpora.corpus import Corpus
from heedful.corpora.locating import cache_folder
from heedful.evidence_checks import NO_LABEL
from heedful.files import fingerprint
from heedful.integrity import content_fingerprint
from heedful.list_columns import Kind, ragged_column
from heedful.models.batches import Inputs
from heedful.models.checkpoint import read_tensors, write_tensors
from heedful.models.classifier import Classifier
from heedful.models.documents import MODELS, Dropout
from heedful.models.options import ENCODER_OPTIONS
from heedful.models.training import Examples
from heedful.ragged import Ragged
from heedful.randomness import Stream
from heedful.runs.config import WORD2VEC, RunConfig
from heedful.text import word2vec
from heedful.text.vocabulary import SPECIAL, UNKNOWN, Vocabulary
from heedful.text.word2vec import TokenLists, train_word2vec
from heedful.text.word_vectors import Coverage, Vectors, from_keyed_vectors, initial_embedding, read_vectors
from heedful.workspace.environment import versions

READ = ("id", "tokens", "query", "candidates", "words", "sentences")  # columns of evidence that are inputs of a model
BATCH = 2048  # instances as text in memory at a time


def inputs_of(frame: pl.DataFrame, vocabulary: Vocabulary, *, sentences: bool = False) -> Inputs:
    """Model inputs from the columns `tokens` and, if present, `query` and `candidates` of a corpus or of evidence;
    with `sentences` as items, their words and lengths."""
    words = "words" if sentences and "words" in frame.columns else "tokens"  # in evidence, tokens are the items
    return Inputs(
        vocabulary.encode(frame[words]),
        vocabulary.encode(frame["query"]) if "query" in frame.columns else None,
        ragged_column(frame, "candidates", "indices", "candidates") if "candidates" in frame.columns else None,
        ragged_column(frame, "sentences", "indices", "sentences") if sentences else None,
    )


def items_of(frame: pl.DataFrame, where: str, *, sentences: bool) -> dict[str, Any]:
    """The columns of evidence that come from the corpus: texts of items, queries, sentences and truth."""
    columns: dict[str, Kind] = {"tokens": "text", "query": "text", "sentences": "indices", "truth": "flags"}
    known = {name: ragged_column(frame, name, kind, where) for name, kind in columns.items() if name in frame.columns}
    if sentences:
        known["words"] = known["tokens"]
        known["tokens"] = known["sentences"].like(_texts(known["words"], known["sentences"]))
        if "truth" in known:  # a sentence is deciding if a word of it is
            deciding = Ragged.from_lengths(known["truth"].values, known["sentences"].values).sum() > 0
            known["truth"] = known["sentences"].like(deciding)
    return known


def _texts(words: Ragged, sentences: Ragged) -> NDArray[Any]:
    texts = np.empty(len(sentences.values), dtype=object)
    texts[:] = [" ".join(sentence) for sentence in Ragged.from_lengths(words.values, sentences.values)]
    return texts


def labels_of(frame: pl.DataFrame) -> NDArray[np.int64]:
    """The column `label`; NO_LABEL where the answer is not one of the classes."""
    return frame["label"].cast(pl.Int64).fill_null(NO_LABEL).to_numpy()


def examples(corpus: Corpus, split: str, vocabulary: Vocabulary, *, sentences: bool) -> Examples:
    """All examples of a split."""
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
    """Occurrences of each word of the vocabulary in the training split, (V,)."""
    counts = np.zeros(len(vocabulary), dtype=np.int64)
    for frame in corpus.batches("train", BATCH):
        counts += np.bincount(vocabulary.encode(frame["tokens"]).values, minlength=len(vocabulary))
    return counts


def _joined(parts: Sequence[Ragged]) -> Ragged:
    values = np.concatenate([part.values for part in parts])
    return Ragged.from_lengths(values, np.concatenate([part.lengths for part in parts]))


def trained_vectors(config: RunConfig, corpus: Corpus, vocabulary: Vocabulary) -> Vectors:
    """word2vec vectors of `<unk>`, if one is trained, and of the vocabulary's words, in this order; cached."""
    words = vocabulary.words[len(SPECIAL) :]
    path = _path(config, corpus, words)
    if not path.exists():
        trained = _train(config, corpus, words)
        write_tensors(path, {"rows": torch.from_numpy(trained.rows), "found": torch.from_numpy(trained.found)})
    tensors, _ = read_tensors(path)
    return Vectors(tensors["rows"].numpy(), tensors["found"].numpy())


def _train(config: RunConfig, corpus: Corpus, words: tuple[str, ...]) -> Vectors:
    options = config.embedding
    unknown = options.word2vec_unknown
    trained = train_word2vec(
        TokenLists(corpus.scan(*config.vocabulary.splits), known=frozenset(words) if unknown else None),
        width=options.width,
        window=options.word2vec_window,
        min_count=options.word2vec_min_count,
        epochs=options.word2vec_epochs,
        seed=_seed(config),
        normalise=options.word2vec_normalise,
    )
    # a text may contain the word "<unk>", which means unknown words only if it was trained from them
    return from_keyed_vectors(trained, (SPECIAL[UNKNOWN] if unknown else "", *words))


def _path(config: RunConfig, corpus: Corpus, words: tuple[str, ...]) -> Path:
    """The cache file, named by a hash of everything that the vectors depend on."""
    options = {key: value for key, value in config.embedding if key == "width" or key.startswith("word2vec")}
    code = [content_fingerprint(Path(word2vec.__file__)), versions().get("gensim", "")]
    key = fingerprint([corpus.fingerprint, config.vocabulary.splits, words, options, _seed(config), code])
    return cache_folder() / "vectors" / f"{corpus.name}-{key}.safetensors"


def _seed(config: RunConfig) -> int:
    return Stream(config.seed, "word2vec").integer()


def build_model(
    config: RunConfig,
    *,
    embedding: NDArray[np.float32],
    classes: tuple[str, ...],
    query_embedding: NDArray[np.float32] | None = None,
) -> Classifier:
    """Build the configured model; two classes share one sigmoid output, unless there are queries."""
    training, parts = config.training, {}
    if config.model != "classifier":
        parts["dropout"] = Dropout(training.word_dropout, training.item_dropout, training.logit_dropout)
    return MODELS[config.model](
        embedding=embedding,
        encoder=config.encoder,
        encoder_options=ENCODER_OPTIONS[config.encoder](**config.encoder_options),
        attention=config.attention,
        outputs=1 if len(classes) == 2 and query_embedding is None else len(classes),
        seed=config.seed,
        query_embedding=query_embedding,
        **parts,
    )


def first_embeddings(
    config: RunConfig, corpus: Corpus, vocabulary: Vocabulary
) -> tuple[dict[str, NDArray[np.float32]], Coverage | None]:
    """The initial word vectors, and how many words have a pretrained one (None: no pretrained vectors configured).

    Queries have vectors of their own: the same pretrained ones, and other random draws for the rest. Special tokens
    start at zero, unless a vector was trained for the unknown word: a draw from N(0, 1) for it would never be trained
    where every training word is known, and would add noise (SST: 0.01 of macro F1 lost).
    """
    options, words = config.embedding, vocabulary.words[len(SPECIAL) :]
    special = np.zeros((len(SPECIAL), options.width), dtype=np.float32)
    found = None
    if options.vectors == WORD2VEC:
        trained = trained_vectors(config, corpus, vocabulary)
        unknown = int(trained.found[0])  # rows for `<unk>`, which comes first
        special[UNKNOWN, :] = trained.rows[:unknown].sum(axis=0)
        found = Vectors(trained.rows[unknown:], trained.found[1:])
    elif options.vectors:
        found = read_vectors(Path(options.vectors), words, options.width)
    # `missing` is about words missing from a file; without a file every word is drawn
    missing = options.missing if options.vectors else "normal"
    seeds = {"embedding": config.seed}
    if corpus.query:
        seeds["query_embedding"] = Stream(config.seed, "query vectors").integer()
    matrices = {}
    for name, seed in seeds.items():
        rows = initial_embedding(words, width=options.width, seed=seed, found=found, missing=missing)
        matrices[name] = np.concatenate([special, rows])
    if found is None:
        return matrices, None
    return matrices, Coverage.of(found.found, word_counts(corpus, vocabulary)[len(SPECIAL) :])
