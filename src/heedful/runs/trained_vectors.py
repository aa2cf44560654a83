"""Word vectors trained on a corpus, kept in the cache: models that differ in anything else begin from the same ones."""

from importlib import metadata
from pathlib import Path

import torch

from heedful.corpora.corpus import Corpus
from heedful.corpora.places import cache_folder
from heedful.files import content_fingerprint, fingerprint
from heedful.models.checkpoint import read_tensors, write_tensors
from heedful.randomness import Stream
from heedful.runs.config import RunConfig
from heedful.text import word2vec
from heedful.text.vectors import Vectors, from_keyed_vectors
from heedful.text.vocabulary import SPECIAL, UNKNOWN, Vocabulary
from heedful.text.word2vec import TokenLists, train_word2vec


def trained_vectors(config: RunConfig, corpus: Corpus, vocabulary: Vocabulary) -> Vectors:
    """Vectors of `<unk>`, where one is trained for it, and of the vocabulary's words, in this order."""
    words = vocabulary.words[len(SPECIAL) :]
    path = _path(config, corpus, words)
    if not path.exists():
        made = _train(config, corpus, words)
        write_tensors(path, {"rows": torch.from_numpy(made.rows), "found": torch.from_numpy(made.found)})
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
    # a text may contain the word "<unk>"; it stands for unknown ones only if these were trained as it
    return from_keyed_vectors(trained, (SPECIAL[UNKNOWN] if unknown else "", *words))


def _path(config: RunConfig, corpus: Corpus, words: tuple[str, ...]) -> Path:
    """Named after all that the vectors depend on."""
    options = {key: value for key, value in config.embedding if key == "width" or key.startswith("word2vec")}
    code = [content_fingerprint(Path(word2vec.__file__)), _gensim()]
    key = fingerprint([corpus.fingerprint, config.vocabulary.splits, words, options, _seed(config), code])
    return cache_folder() / "vectors" / f"{corpus.name}-{key}.safetensors"


def _seed(config: RunConfig) -> int:
    return Stream(config.seed, "word2vec").integer()


def _gensim() -> str:
    try:
        return metadata.version("gensim")
    except metadata.PackageNotFoundError:  # training will say what is missing
        return ""
