import json

import polars as pl
import pytest

from heedful.corpora.loading import load
from heedful.corpora.registry import READERS
from heedful.errors import BadInput, NotFound
from tests.corpora.native import pack, unpack, write

TEXT = "I <br />give it<br/><br>10 out of 10. Isn't it great?"


def objects(count=100):
    return [{"title": "t", "rating": n % 10 + 1, "review": f"{TEXT} {n}", "movie": None} for n in range(count)]


def reviews():
    files = {"aclImdb/README": b"read me", "aclImdb/train/unsup/0_0.txt": b"no stars here"}
    for split in ("train", "test"):
        for side, stars in (("neg", (1, 2, 3, 4)), ("pos", (7, 8, 9, 10))):
            for number in range(20):
                files[f"aclImdb/{split}/{side}/{number}_{stars[number % 4]}.txt"] = f"{TEXT} {number}".encode()
    return files


def everything(corpus):
    return pl.concat([corpus.split(split) for split in ("train", "dev", "test")]).sort("id")


@pytest.mark.parametrize("name", ["imdb-ratings/data.json", "imdb_ratings/data.json.gz", "imdb-ratings/data.jsonl"])
@pytest.mark.parametrize("lines", [True, False])
def test_the_papers_file(tmp_path, name, lines):
    content = "\n".join(map(json.dumps, objects())) if lines else json.dumps(objects())
    write(tmp_path / name, content)
    corpus = load("imdb-ratings", data=tmp_path)
    assert corpus.classes == tuple(str(stars) for stars in range(1, 11))
    assert (corpus.sizes(), corpus.subset) == ({"train": 80, "dev": 10, "test": 10}, False)
    frame = everything(corpus)
    first = frame.row(0, named=True)
    assert (first["id"], first["label"]) == ("review-0000001", 0)
    assert " ".join(first["tokens"]) == "i give it 10 out of 10 . is n't it great ? 0"
    assert first["sentences"] == [8, 5, 1]
    assert frame["label"].to_list() == [n % 10 for n in range(100)]


def test_ratings_may_be_texts_or_missing(tmp_path):
    ratings = ["3", 4, 5.0, " 10 ", None]
    rows = [{"rating": ratings[n % 5], "review": f"text {n}"} for n in range(100)]
    write(tmp_path / "imdb-ratings" / "data.json", json.dumps(rows))
    corpus = load("imdb-ratings", data=tmp_path)
    assert corpus.classes == ("3", "4", "5", "10")
    assert sum(corpus.sizes().values()) == 80


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"review": "x"}, r"the object has no 'rating'; it has: review"),
        ({"rating": 3}, r"the object has no 'review'; it has: rating"),
        ({"rating": 0, "review": "x"}, r"'0' should be stars from 1 to 10"),
        ({"rating": 11, "review": "x"}, r"'11' should be stars from 1 to 10"),
        ({"rating": 2.5, "review": "x"}, r"'2\.5' should be stars from 1 to 10"),
        ({"rating": True, "review": "x"}, r"'true' should be stars from 1 to 10"),
        ({"rating": "", "review": "x"}, r"column 'rating' has no label"),
        ({"rating": [3], "review": "x"}, r"label \[3\] in column 'rating' is not one value"),
        ({"rating": 3, "review": None}, r"'review' holds None, which is no text"),
        ({"rating": 3, "review": "\ud800"}, r"'review': holds bytes or half a surrogate pair"),
    ],
)
def test_bad_objects(tmp_path, row, message):
    write(tmp_path / "imdb-ratings" / "data.json", json.dumps([*objects(2), row]).replace("}, ", "},\n"))
    with pytest.raises(BadInput, match=rf"data\.json, line 3, column 1(:|,) {message}"):
        load("imdb-ratings", data=tmp_path)


def test_a_file_that_was_cut_short(tmp_path):
    write(tmp_path / "imdb-ratings" / "data.json", json.dumps(objects())[:-30])
    with pytest.raises(BadInput, match=r"data\.json, line 1, column \d+: not JSON"):
        load("imdb-ratings", data=tmp_path)


def test_stars_in_the_names_of_another_corpus(tmp_path):
    pack(tmp_path / "packed" / "imdb" / "aclImdb_v1.tar.gz", reviews())
    with pytest.raises(NotFound, match=r"imdb-ratings was not found .*--subset uses it.*Diao et al\. 2014"):
        load("imdb-ratings", data=tmp_path / "packed")
    corpus = load("imdb-ratings", data=tmp_path / "packed", subset=True)
    assert corpus.subset
    assert corpus.classes == ("1", "2", "3", "4", "7", "8", "9", "10")
    assert corpus.sizes() == {"train": 64, "dev": 8, "test": 8}
    row = everything(corpus).filter(pl.col("id") == "test-pos-7_10").row(0, named=True)
    assert corpus.classes[row["label"]] == "10"
    assert row["sentences"] == [8, 5, 1]
    unpack(tmp_path / "plain", reviews())
    plain = load("imdb-ratings", data=tmp_path / "plain", subset=True)
    for split in ("train", "dev", "test"):
        assert plain.split(split).sort("id").equals(corpus.split(split).sort("id"))


def test_the_papers_file_goes_before_the_other_corpus(tmp_path):
    pack(tmp_path / "aclImdb_v1.tar.gz", reviews())
    write(tmp_path / "imdb-ratings" / "data.json", json.dumps(objects()))
    assert not load("imdb-ratings", data=tmp_path, subset=True).subset


def test_a_part_of_the_papers_file(tmp_path):
    write(tmp_path / "imdb-ratings" / "data_subset.json", json.dumps(objects()))
    corpus = load("imdb-ratings", data=tmp_path, subset=True)
    assert (corpus.subset, len(corpus.classes)) == (True, 10)


@pytest.mark.parametrize("name", ["7.txt", "7_pos.txt", "7_0.txt", "7_11.txt"])
def test_a_name_without_stars(tmp_path, name):
    pack(tmp_path / "aclImdb_v1.tar.gz", reviews() | {f"aclImdb/test/neg/{name}": b"text"})
    with pytest.raises(
        BadInput, match=rf"aclImdb_v1\.tar\.gz, aclImdb/test/neg/{name}: '.*' should be stars from 1 to 10"
    ):
        load("imdb-ratings", data=tmp_path, subset=True)


def test_a_class_that_training_never_has(tmp_path):
    rows = [{"rating": 1 + (n % 2), "review": f"text {n}"} for n in range(100)]
    write(tmp_path / "imdb-ratings" / "data.json", json.dumps(rows))
    held = load("imdb-ratings", data=tmp_path).split("test")["id"][0]
    rows[int(held.removeprefix("review-")) - 1]["rating"] = 9  # the draw does not depend on labels
    write(tmp_path / "imdb-ratings" / "data.json", json.dumps(rows))
    with pytest.raises(BadInput, match=r"data\.json: label '9' occurs in test but never in training"):
        load("imdb-ratings", data=tmp_path)


def test_a_text_given_later_is_cut_in_the_same_way():
    reader = READERS["imdb-ratings"]
    cut = reader.sentences(TEXT, reader.options())
    assert [token for sentence in cut for token in sentence] == reader.tokenise(TEXT, reader.options())
    assert len(cut) == 2
