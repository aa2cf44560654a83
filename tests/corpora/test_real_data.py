"""The readers on the real corpora, wherever HEEDFUL_DATA says they are."""

from itertools import islice

import pytest

from heedful.corpora.archives import decode
from heedful.corpora.download import check_rows
from heedful.corpora.loading import load
from heedful.corpora.reader import Options
from heedful.corpora.readers.imdb import reviews
from heedful.corpora.registry import READERS
from heedful.errors import BadInput, NotFound

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
    check_rows(READERS[name], found)


@pytest.mark.slow
def test_imdb(real_data):
    counts = load("imdb", data=real_data, options={"cleaning": "released"}).counts()
    assert counts == {"train": [8710, 8502], "dev": [2154, 2150], "test": [2177, 2170]}


@pytest.mark.parametrize(
    ("name", "sizes", "test", "sentences"),
    [
        ("yahoo", (3590, 400, 418), {"Society & Culture": 209, "Science & Mathematics": 209}, 7.03),
        ("yelp", (4493, 500, 5000), {"1": 722, "2": 419, "3": 545, "4": 1073, "5": 2241}, 7.68),
        ("amazon", (4994, 628, 1574), {"1": 490, "2": 288, "4": 224, "5": 572}, 7.98),
    ],
)
def test_samples_of_documents_in_sentences(real_data, name, sizes, test, sentences):
    with pytest.raises(NotFound, match="--subset uses it"):
        load(name, data=real_data)
    corpus = load(name, data=real_data, subset=True)
    assert (tuple(corpus.sizes().values()), corpus.subset) == (sizes, True)
    assert dict(zip(corpus.classes, corpus.counts()["test"], strict=True)) == test
    frame = corpus.split("test")
    assert round(frame["sentences"].list.len().mean(), 2) == sentences
    assert frame["sentences"].list.sum().eq(frame["tokens"].list.len()).all()
    assert not any("\\n" in token for token in frame["tokens"].explode())


def test_more_topics_in_test_than_in_training(real_data, tmp_path):
    folder = tmp_path / "yahoo_answers_csv"
    folder.mkdir()
    there = real_data / "yahoo_answers_csv"
    (folder / "train_subset.csv.gz").symlink_to(there / "train_subset.csv.gz")
    (folder / "test_subset.csv.gz").symlink_to(there / "test_10class_tokenised_subset.csv.gz")
    with pytest.raises(BadInput, match=r"test_subset\.csv\.gz: label 'Business & Finance' occurs in test but never in"):
        load("yahoo", data=tmp_path, subset=True)


def test_imdb_ratings_begin_as_spacy_cuts_them(real_data):
    spacy = pytest.importorskip("spacy")
    plain = spacy.blank("en")
    plain.add_pipe("sentencizer")
    reader, options = READERS["imdb-ratings"], READERS["imdb-ratings"].options()
    assert reader.find([real_data], options, subset=False) is None
    found = reader.find([real_data], options, subset=True)
    assert found.subset
    texts = (decode(content, where) for _, where, content in reviews(found))
    for document, text in islice(zip(reader.documents(found, options), texts, strict=True), 200):
        parsed = plain(" ".join(reader.clean(text).split()))
        assert [token.text.lower() for token in parsed] == document.tokens
        assert [len(sentence) for sentence in parsed.sents] == document.sentences
        assert document.id.endswith(f"_{document.label}")


@pytest.mark.slow
def test_imdb_ratings(real_data):
    corpus = load("imdb-ratings", data=real_data, subset=True)
    assert (corpus.sizes(), corpus.subset) == ({"train": 40000, "dev": 5000, "test": 5000}, True)
    assert corpus.classes == ("1", "2", "3", "4", "7", "8", "9", "10")
    assert corpus.counts()["test"] == [968, 475, 487, 549, 484, 619, 446, 972]
    assert round(corpus.split("test")["sentences"].list.len().mean(), 1) == 12.3
