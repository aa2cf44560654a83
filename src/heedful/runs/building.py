"""From a configuration to a model with its first parameters."""

import numpy as np
from numpy.typing import NDArray

from heedful.corpora.corpus import Corpus
from heedful.models.classifier import Classifier
from heedful.models.options import ENCODER_OPTIONS
from heedful.randomness import Stream, keys
from heedful.runs.config import RunConfig
from heedful.runs.directory import Run
from heedful.text.vocabulary import Vocabulary


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


def first_embedding(run: Run, corpus: Corpus, vocabulary: Vocabulary) -> NDArray[np.float32]:
    """The word vectors training starts from."""
    config = run.config.embedding
    if run.checkpoint.last.exists():  # training goes on from there; only the shape matters
        return np.zeros((len(vocabulary), config.width), dtype=np.float32)
    draw = Stream(run.config.seed, "vectors").normal(keys(vocabulary.words)[:, None], np.arange(config.width))
    return draw.astype(np.float32)
