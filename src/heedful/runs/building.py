"""From a configuration to a model with its first parameters."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.corpora.corpus import Corpus
from heedful.models.classifier import Classifier
from heedful.models.options import ENCODER_OPTIONS
from heedful.randomness import Stream
from heedful.runs.config import WORD2VEC, RunConfig
from heedful.text.vectors import Coverage, Vectors, from_keyed_vectors, initial_embedding, read_vectors
from heedful.text.vocabulary import SPECIAL, Vocabulary
from heedful.text.word2vec import TokenLists, train_word2vec


def build_model(config: RunConfig, *, embedding: NDArray[np.float32], classes: tuple[str, ...]) -> Classifier:
    """A classifier of the configured kind; two classes share one sigmoid output."""
    return Classifier(
        embedding=embedding,
        encoder=config.encoder,
        encoder_options=ENCODER_OPTIONS[config.encoder](**config.encoder_options),
        attention=config.attention,
        outputs=1 if len(classes) == 2 else len(classes),
        seed=config.seed,
    )


def first_embedding(
    config: RunConfig, corpus: Corpus, vocabulary: Vocabulary
) -> tuple[NDArray[np.float32], Coverage | None]:
    """The word vectors training starts from, and how many words have a pretrained one (None: nothing was asked for).

    Special words name no word and start at zero. An unknown word then says nothing; at N(0, 1), which training never
    corrects where every training word is known, it says something at random (SST: 0.01 of macro F1 lost).
    """
    options, words = config.embedding, vocabulary.words[len(SPECIAL) :]
    found = None
    if options.vectors:
        found = _word2vec(config, corpus, words) if options.vectors == WORD2VEC else _file(config, words)
    # `missing` is about words missing from a file; with no file at all every word is drawn
    missing = options.missing if options.vectors else "normal"
    matrix = initial_embedding(words, width=options.width, seed=config.seed, found=found, missing=missing)
    coverage = None
    if found is not None:
        training = vocabulary.encode(corpus.scan("train").select("tokens").collect()["tokens"])
        counts = np.bincount(training.values, minlength=len(vocabulary))[len(SPECIAL) :]
        coverage = Coverage.of(found.found, counts)
    return np.concatenate([np.zeros((len(SPECIAL), options.width), dtype=np.float32), matrix]), coverage


def _file(config: RunConfig, words: Sequence[str]) -> Vectors:
    return read_vectors(Path(config.embedding.vectors), words, config.embedding.width)


def _word2vec(config: RunConfig, corpus: Corpus, words: Sequence[str]) -> Vectors:
    options = config.embedding
    trained = train_word2vec(
        TokenLists(corpus.scan("train")),
        width=options.width,
        window=options.word2vec_window,
        min_count=options.word2vec_min_count,
        epochs=options.word2vec_epochs,
        seed=Stream(config.seed, "word2vec").integer(),
        normalise=options.word2vec_normalise,
    )
    return from_keyed_vectors(trained, words)
