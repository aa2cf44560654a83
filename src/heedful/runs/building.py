"""From a configuration to a model with its first parameters."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.corpora.corpus import Corpus
from heedful.models.classifier import Classifier
from heedful.models.flat import Dropout
from heedful.models.kinds import MODELS
from heedful.models.options import ENCODER_OPTIONS
from heedful.randomness import Stream
from heedful.runs.config import WORD2VEC, RunConfig
from heedful.runs.reading import word_counts
from heedful.runs.trained_vectors import trained_vectors
from heedful.text.vectors import Coverage, Vectors, initial_embedding, read_vectors
from heedful.text.vocabulary import SPECIAL, UNKNOWN, Vocabulary


def build_model(
    config: RunConfig,
    *,
    embedding: NDArray[np.float32],
    classes: tuple[str, ...],
    query_embedding: NDArray[np.float32] | None = None,
) -> Classifier:
    """A model of the configured kind; two classes share one sigmoid output, unless there are queries."""
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
    """The word vectors training starts from, and how many words have a pretrained one (None: nothing was asked for).

    Queries have vectors of their own: the same pretrained ones, and other draws for the rest.

    Special words name no word and start at zero, unless a vector was trained for the unknown one. An unknown word then
    says nothing; at N(0, 1), which training never corrects where every training word is known, it says something at
    random (SST: 0.01 of macro F1 lost).
    """
    options, words = config.embedding, vocabulary.words[len(SPECIAL) :]
    special = np.zeros((len(SPECIAL), options.width), dtype=np.float32)
    found = None
    if options.vectors == WORD2VEC:
        trained = trained_vectors(config, corpus, vocabulary)
        unknown = int(trained.found[0])  # rows for `<unk>`, the first of the words
        special[UNKNOWN, :] = trained.rows[:unknown].sum(axis=0)
        found = Vectors(trained.rows[unknown:], trained.found[1:])
    elif options.vectors:
        found = read_vectors(Path(options.vectors), words, options.width)
    # `missing` is about words missing from a file; with no file at all every word is drawn
    missing = options.missing if options.vectors else "normal"
    seeds = {"embedding": config.seed}
    if corpus.query:
        seeds["query_embedding"] = Stream(config.seed, "query vectors").integer()
    matrices = {
        name: np.concatenate(
            [special, initial_embedding(words, width=options.width, seed=seed, found=found, missing=missing)]
        )
        for name, seed in seeds.items()
    }
    coverage = None
    if found is not None:
        coverage = Coverage.of(found.found, word_counts(corpus, vocabulary)[len(SPECIAL) :])
    return matrices, coverage
