"""The readers on the real corpora, wherever HEEDFUL_DATA says they are."""

import pytest

from heedful.corpora.download import SOURCES, _check_rows
from heedful.corpora.loading import load
from heedful.corpora.reader import Options
from heedful.corpora.registry import READERS


@pytest.mark.parametrize("cleaning", ["paper", "released"])
def test_sst_has_the_counts_of_table_1(real_data, cleaning):
    corpus = load("sst", data=real_data, options={"cleaning": cleaning})
    assert corpus.counts() == {"train": [3034, 3321], "dev": [397, 424], "test": [863, 862]}
    lengths = corpus.split("test")["tokens"].list.len()
    assert (round(lengths.mean(), 1), lengths.max()) == (18.2, 46)  # as in the released code
    words = set(corpus.split("train")["tokens"].explode())
    assert ("qqq" in words) == (cleaning == "paper")
    assert any(letter.isdigit() for word in words for letter in word) == (cleaning == "released")


def test_sst_has_the_released_vocabulary(real_data):
    reader, options = READERS["sst"], Options(cleaning="released")
    found = reader.find([real_data], options, subset=False)
    training = (document for document in reader.documents(found, options) if document.split == "train")
    words = {token for document in training for token in document.tokens}
    assert len(words) + 4 == 13826  # with its four special words; made before the length filter


def test_newsgroups(real_data):
    counts = load("newsgroups", data=real_data).counts()
    assert counts == {"train": [566, 577], "dev": [140, 142], "test": [181, 174]}


def test_agnews_subset(real_data):
    corpus = load("agnews", data=real_data, subset=True)
    assert corpus.subset
    assert corpus.counts()["test"] == [1900, 1900]


@pytest.mark.parametrize("name", ["sst", "imdb", "newsgroups"])
def test_row_counts_that_a_download_must_have(real_data, name):
    found = READERS[name].find([real_data], Options(), subset=False)
    _check_rows(name, SOURCES[name], found)


@pytest.mark.slow
def test_imdb(real_data):
    counts = load("imdb", data=real_data, options={"cleaning": "released"}).counts()
    assert counts == {"train": [8710, 8502], "dev": [2154, 2150], "test": [2177, 2170]}
