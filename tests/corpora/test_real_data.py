"""The readers on the real corpora, wherever HEEDFUL_DATA says they are."""

import pytest

from heedful.corpora.download import SOURCES, _check_rows
from heedful.corpora.loading import load
from heedful.corpora.reader import Options
from heedful.corpora.registry import READERS
from heedful.errors import NotFound

ROOMS = {"bathroom", "bedroom", "garden", "hallway", "kitchen", "office"}


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


@pytest.mark.parametrize("task", [1, 2])
def test_babi(real_data, task):
    corpus = load(f"babi-{task}", data=real_data)
    assert (corpus.sizes(), corpus.subset) == ({"train": 8500, "dev": 1500, "test": 1000}, False)
    test = corpus.split("test")
    assert {corpus.classes[label] for label in test["label"]} == ROOMS
    # the answer is a word of a supporting fact
    for row in test.iter_rows(named=True):
        marked = {token for token, true in zip(row["tokens"], row["truth"], strict=True) if true}
        assert corpus.classes[row["label"]] in marked


def test_babi_3_subset(real_data):
    with pytest.raises(NotFound, match="--subset uses it"):
        load("babi-3", data=real_data)
    corpus = load("babi-3", data=real_data, subset=True)
    assert (corpus.sizes(), corpus.subset) == ({"train": 1636, "dev": 289, "test": 1000}, True)
    assert len(corpus.classes) == 36


@pytest.mark.parametrize("task", [1, 2, 3])
def test_babi_with_1000_questions(real_data, task):
    corpus = load(f"babi-{task}", data=real_data, options={"training": "1k", "cleaning": "released"})
    assert (corpus.sizes(), corpus.subset) == ({"train": 850, "dev": 150, "test": 1000}, False)


def test_snli_subset(real_data):
    corpus = load("snli", data=real_data, subset=True)
    assert (corpus.sizes(), corpus.subset) == ({"train": 24495, "dev": 9842, "test": 9824}, True)
    assert corpus.counts()["test"] == [3219, 3237, 3368]


def test_snli_in_its_native_form(real_data):
    corpus = load("snli", data=real_data / "snli_1.0" / "native_sample")
    assert sum(corpus.sizes().values()) < 1000 + 1289 + 1277  # those without a gold label are out
    assert corpus.split("dev")["id"][0] == "4705552913.jpg#2r1n"


def test_cnn_samples(real_data):
    corpus = load("cnn", data=real_data, subset=True)
    assert (corpus.sizes(), corpus.subset) == ({"train": 3, "dev": 1, "test": 1}, True)
    assert [int(name.removeprefix("@entity")) for name in corpus.classes] == sorted(
        int(name.removeprefix("@entity")) for name in corpus.classes
    )
    for row in corpus.split("train").iter_rows(named=True):
        assert row["label"] in row["candidates"]
        assert {corpus.classes[index] for index in row["candidates"]} <= set(row["tokens"])
        assert "@placeholder" in row["query"]


@pytest.mark.parametrize("name", ["sst", "imdb", "newsgroups", "babi-1", "babi-2"])
def test_row_counts_that_a_download_must_have(real_data, name):
    found = READERS[name].find([real_data], READERS[name].options(), subset=False)
    _check_rows(name, SOURCES[name], found)


@pytest.mark.slow
def test_imdb(real_data):
    counts = load("imdb", data=real_data, options={"cleaning": "released"}).counts()
    assert counts == {"train": [8710, 8502], "dev": [2154, 2150], "test": [2177, 2170]}
