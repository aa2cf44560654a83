"""Vectors trained on a corpus: kept, shared by models, and never mistaken for others."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from heedful.corpora.loading import load
from heedful.runs import model_setup as module
from heedful.runs.config import RunConfig, resolve
from heedful.runs.model_setup import first_embeddings, trained_vectors
from heedful.text.vocabulary import SPECIAL, UNKNOWN, Vocabulary

pytest.importorskip("gensim")

CORPUS: dict[str, Any] = {"corpus": "planted", "corpus_options": {"train": 60, "dev": 20, "test": 20}}
VECTORS: dict[str, Any] = {"vectors": "word2vec", "width": 6, "word2vec_epochs": 1, "word2vec_min_count": 1}


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path))
    return tmp_path


def configured(*, dev: bool = False, seed: int = 0, min_count: int = 1, **embedding: Any) -> RunConfig:
    vocabulary = {"min_count": min_count, "dev": dev}
    return resolve({**CORPUS, "seed": seed, "embedding": VECTORS | embedding, "vocabulary": vocabulary})


def vocabulary_of(config: RunConfig) -> Vocabulary:
    corpus = load("planted", options=config.corpus_options)
    return Vocabulary.build(corpus.scan(*config.vocabulary.splits), min_count=config.vocabulary.min_count)


def vectors_of(config: RunConfig) -> Any:
    return trained_vectors(config, load("planted", options=config.corpus_options), vocabulary_of(config))


def test_they_are_trained_once(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    first = vectors_of(configured())
    monkeypatch.setattr(module, "train_word2vec", None)
    again = vectors_of(configured().model_copy(update={"encoder": "cnn"}))
    assert np.array_equal(first.rows, again.rows)
    assert np.array_equal(first.found, again.found)
    (file,) = (cache / "vectors").iterdir()
    assert set(load_file(file)) == {"rows", "found"}


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"width": 7},
        {"word2vec_epochs": 2},
        {"word2vec_window": 2},
        {"word2vec_normalise": True},
        {"dev": True},
    ],
    ids=str,
)
def test_other_settings_give_other_vectors(cache: Path, other: dict[str, Any]) -> None:
    first, second = vectors_of(configured()), vectors_of(configured(**other))
    assert len(list((cache / "vectors").iterdir())) == 2
    assert first.rows.shape != second.rows.shape or not np.allclose(first.rows, second.rows)


def test_vectors_of_other_splits_are_others_though_the_words_be_the_same(cache: Path) -> None:
    config = configured(dev=False)
    other = configured(dev=True)
    corpus, vocabulary = load("planted", options=config.corpus_options), vocabulary_of(config)
    first, second = (trained_vectors(each, corpus, vocabulary) for each in (config, other))
    assert not np.allclose(first.rows, second.rows)


def test_unknown_words_have_a_vector_if_one_is_trained() -> None:
    for trained in (True, False):
        config = configured(min_count=8, word2vec_unknown=trained)
        vocabulary = vocabulary_of(config)
        matrices, coverage = first_embeddings(config, load("planted", options=config.corpus_options), vocabulary)
        matrix = matrices["embedding"]
        assert bool(matrix[UNKNOWN].any()) == trained
        assert not matrix[[0, 2, 3]].any()
        assert len(matrix) == len(vocabulary)
        assert coverage is not None
        assert coverage.found == coverage.total == len(vocabulary) - len(SPECIAL)
        assert (np.abs(matrix[len(SPECIAL) :]).sum(axis=1) > 0).all()


def test_normalised_vectors_have_length_one() -> None:
    config = configured(min_count=8, word2vec_unknown=True, word2vec_normalise=True)
    matrices, _ = first_embeddings(config, load("planted", options=config.corpus_options), vocabulary_of(config))
    norms = np.linalg.norm(matrices["embedding"], axis=1)
    assert np.allclose(norms[[UNKNOWN, *range(len(SPECIAL), len(norms))]], 1, atol=1e-5)


def test_a_damaged_file_is_named(cache: Path) -> None:
    from heedful.errors import BadInput

    vectors_of(configured())
    (file,) = (cache / "vectors").iterdir()
    file.write_bytes(b"nothing")
    with pytest.raises(BadInput, match=rf"{file.name} is damaged"):
        vectors_of(configured())
