"""Whatever a reader tells of a document is in the corpus that `load` gives."""

import dataclasses
import re

import polars as pl
import pytest

from heedful.corpora.corpus import SPLITS, Document
from heedful.corpora.loading import load
from heedful.corpora.locating import Found
from heedful.corpora.reader import Reader
from heedful.corpora.registry import READERS
from heedful.errors import BadInput


class Given(Reader):
    """The documents that a test gives."""

    name = task = sizes = how_to_get = "given"

    def __init__(self, documents, *, classes=None, unseen=False):
        self._documents, self._classes, self.unseen = documents, classes, unseen

    def find(self, roots, options, *, subset):
        return Found()

    def classes(self, options):
        return self._classes

    def documents(self, found, options):
        yield from self._documents


@pytest.fixture
def loaded(monkeypatch, tmp_path):
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path))

    def loaded(documents, **settings):
        monkeypatch.setitem(READERS, "given", Given(documents, **settings))
        return load("given")

    return loaded


def documents(**fields):
    labels = ["yes", "no", "perhaps"]
    made = [Document(f"{split}-{n}", ["some", "words"], labels[n], split) for split in SPLITS for n in range(3)]
    return [dataclasses.replace(document, **fields) for document in made]


def test_every_field_survives(loaded, monkeypatch):
    monkeypatch.setattr("heedful.corpora.writing.PART_TOKENS", 7)
    optional = {
        "truth": [True, False],
        "query": ["Why", "?"],
        "candidates": ["yes", "no", "yes", "never"],
        "sentences": [1, 1],
    }
    given = [dataclasses.replace(document, **optional) for document in documents()]
    given = [dataclasses.replace(d, candidates=[*d.candidates, d.label]) for d in given]
    corpus = loaded(given)
    assert corpus.classes == ("no", "perhaps", "yes")
    assert set(corpus.columns) == {field.name for field in dataclasses.fields(Document)} - {"split"}
    assert corpus.query
    assert corpus.sizes() == {"train": 3, "dev": 3, "test": 3}
    for split in SPLITS:
        frame = corpus.split(split)
        assert frame.schema["candidates"] == frame.schema["sentences"] == pl.List(pl.Int32)
        rows = frame.to_dicts()
        assert [row["id"] for row in rows] == [f"{split}-{n}" for n in range(3)]
        assert [row["label"] for row in rows] == [2, 0, 1]
        assert [row["candidates"] for row in rows] == [[0, 2], [0, 2], [0, 1, 2]]
        for row in rows:
            assert (row["tokens"], row["truth"], row["query"]) == (["some", "words"], [True, False], ["Why", "?"])
            assert row["sentences"] == [1, 1]


def test_what_is_not_given_is_no_column(loaded):
    corpus = loaded(documents())
    assert set(corpus.columns) == {"id", "tokens", "label"}
    assert not corpus.query


def test_where_no_candidate_is_a_class_every_class_is_one(loaded):
    made = documents(candidates=["yes", "never"])
    made[-1] = dataclasses.replace(made[-1], candidates=["never"])
    assert loaded(made).split("test")["candidates"].to_list() == [[2], [2], [0, 1, 2]]


def test_an_answer_that_training_never_saw(loaded):
    made = documents()
    made[-1] = dataclasses.replace(made[-1], label="never")
    with pytest.raises(BadInput, match="given: label 'never' occurs in test but never in training"):
        loaded(made)
    corpus = loaded(made, unseen=True)
    assert corpus.split("test")["label"].to_list() == [2, 0, None]
    assert corpus.sizes()["test"] == 3
    assert corpus.counts()["test"] == [1, 0, 1]


def test_a_label_that_is_none_of_the_given_classes(loaded):
    with pytest.raises(BadInput, match="label 'perhaps'"):
        loaded(documents(), classes=("yes", "no"))


@pytest.mark.parametrize("sentences", [[1], [1, 2], [2, 0], [3, -1], []])
def test_sentences_that_do_not_add_up(loaded, sentences):
    made = documents(sentences=[2])
    made[4] = dataclasses.replace(made[4], sentences=sentences)
    with pytest.raises(
        BadInput, match=rf"given: the sentences of 'dev-1' have {re.escape(str(sentences))} tokens, and the"
    ):
        loaded(made)


def test_a_document_without_a_sentence_is_dropped(loaded):
    made = documents(sentences=[2])
    made += [dataclasses.replace(made[n], id=f"empty-{n}", tokens=[], sentences=[]) for n in (0, 3, 6)]
    assert loaded(made).sizes() == {"train": 3, "dev": 3, "test": 3}


def test_a_split_may_depend_on_sentences(loaded, monkeypatch):
    seen = []

    def split(self, table, options):
        seen.append(table.select("id", "length", *(name for name in ("sentences", "longest") if name in table.columns)))
        return table["split"]

    monkeypatch.setattr(Given, "split", split)
    made = documents(tokens=["a", "b", "c", "d"], sentences=[1, 3])
    loaded(made)
    assert set(seen[0].rows()) == {(document.id, 4, 2, 3) for document in made}
    monkeypatch.setattr(Given, "name", "other")  # not from the cache
    loaded(documents())
    assert seen[1].columns == ["id", "length"]
