"""The three corpora in the CSV files of Zhang et al.: what they share, and what differs."""

import csv
import io

import polars as pl
import pytest

from heedful.corpora.loading import load
from heedful.corpora.registry import READERS
from heedful.errors import BadInput, NotFound
from tests.corpora.native import write

FOLDERS = {"yahoo": "yahoo_answers_csv", "yelp": "yelp_review_full_csv", "amazon": "amazon_review_full_csv"}
TEXTS = {"yahoo": 3, "yelp": 1, "amazon": 2}  # columns that are text
CLASSES = {"yahoo": 10, "yelp": 5, "amazon": 5}
LIMITS = {"yahoo": (50, 350), "yelp": (43, 200), "amazon": (15, 130)}  # sentences, tokens of the longest

every = pytest.mark.parametrize("name", FOLDERS)


def rows(name, texts, classes=None):
    """Rows with the given texts in the last column, and the classes one after another."""
    numbers = classes or range(1, CLASSES[name] + 1)
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for place, text in enumerate(texts):
        writer.writerow([numbers[place % len(numbers)], *[f"part {n}" for n in range(TEXTS[name] - 1)], text])
    return file.getvalue()


def save(folder, name, train, test, kind="{}.csv"):
    write(folder / FOLDERS[name] / kind.format("train"), train)
    write(folder / FOLDERS[name] / kind.format("test"), test)
    return folder


def everything(corpus):
    return pl.concat([corpus.split(split) for split in ("train", "dev", "test")])


@every
def test_splits_classes_and_texts(tmp_path, name):
    texts = [f'It cost $5.\\nI said "Never again!" {n}' for n in range(100)]
    save(tmp_path, name, rows(name, texts), rows(name, texts[:20]))
    corpus = load(name, data=tmp_path)
    assert corpus.sizes() == {"train": 90, "dev": 10, "test": 20}
    assert corpus.classes == tuple(READERS[name].names)
    assert len(corpus.classes) == CLASSES[name]
    assert not corpus.subset
    first = corpus.split("test").row(0, named=True)
    before = " ".join(f"part {n}" for n in range(TEXTS[name] - 1))
    assert " ".join(first["tokens"]) == f'{before} it cost $ 5 . i said " never again ! " 0'.strip()
    assert first["sentences"] == [5 + len(before.split()), 7, 1]
    assert (first["id"], corpus.classes[first["label"]]) == ("test-0000001", READERS[name].names[0])
    assert everything(corpus)["sentences"].dtype == pl.List(pl.Int32)


def test_names_of_the_classes():
    assert READERS["yahoo"].names[::9] == ("Society & Culture", "Politics & Government")
    assert READERS["yelp"].names == READERS["amazon"].names == ("1", "2", "3", "4", "5")


@every
def test_texts_of_many_or_long_sentences_are_left_out_but_not_of_test(tmp_path, name):
    sentences, tokens = LIMITS[name]
    parts = 2 * (TEXTS[name] - 1)  # tokens of the other columns, in the first sentence
    good = ["yes . " * sentences, "x " * (tokens - parts)]
    bad = ["yes . " * (sentences + 1), "x " * (tokens - parts + 1)]
    save(tmp_path, name, rows(name, (good * 10 + bad * 10) * 5), rows(name, good * 5 + bad * 5))
    corpus = load(name, data=tmp_path)
    sizes = corpus.sizes()
    assert sizes["test"] == 20
    for split in ("train", "dev", "test"):
        lengths = corpus.split(split)["sentences"]
        within = (lengths.list.len() <= sentences) & (lengths.list.max() <= tokens)
        assert within.all() == (split == "train" or (split == "dev" and name == "yahoo"))
    assert 80 <= sizes["train"] < 100
    assert sizes["dev"] == 20 or (name == "yahoo" and sizes["train"] + sizes["dev"] == 100)


@every
def test_a_class_that_training_never_has(tmp_path, name):
    texts = [f"text {n}." for n in range(40)]
    save(tmp_path, name, rows(name, texts, [4, 2, 5]), rows(name, texts, [5, 2]))
    names = READERS[name].names
    assert load(name, data=tmp_path).classes == (names[1], names[3], names[4])
    save(tmp_path, name, rows(name, texts, [4, 2, 5]), rows(name, texts))
    with pytest.raises(BadInput, match=r"train\.csv, .*test\.csv: label '.*' occurs in test but never in training"):
        load(name, data=tmp_path)


@every
@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ([0], "line 9: should be class"),
        ([11], "line 9: should be class"),
        (["one"], "line 9: should be class"),
        ([""], "line 9: should be class"),
        ([1, "one too many"], "line 9: should be class"),
        ([1, None], "line 9: should be class"),
    ],
)
def test_bad_rows(tmp_path, name, row, problem):
    texts = ["text"] * TEXTS[name]
    number, *more = row
    fields = [number, *texts[: -1 if more == [None] else None], *[field for field in more if field]]
    line = ",".join(f'"{field}"' for field in fields)
    save(tmp_path, name, rows(name, ["a text"] * 8) + line + "\n", rows(name, ["a text"]))
    found = rf"{problem} \(1 to {CLASSES[name]}\), .*; found \['{number}'"
    with pytest.raises(BadInput, match=rf"train\.csv, {found}"):
        load(name, data=tmp_path)


@every
def test_quotes_that_are_not_closed_and_bytes_that_are_no_text(tmp_path, name):
    save(tmp_path, name, rows(name, ["a text"] * 8) + '"1","never closed', rows(name, ["a text"]))
    with pytest.raises(BadInput, match=r"train\.csv, row that begins on line 9: .*double quotes"):
        load(name, data=tmp_path)
    save(tmp_path, name, rows(name, ["a text"] * 30), rows(name, ["a text"]).encode() + b'"1","caf\xe9"')
    with pytest.raises(BadInput, match=r"test\.csv, line 2: byte 0xe9 is not UTF-8"):
        load(name, data=tmp_path)


@every
def test_hostile_texts(tmp_path, name):
    texts = ["", " \\n ", "\x00\x1b[31m", "\u202eabc", "...", "😀. 😀", "\u2028", "=cmd()", "n't. I'M", "\\\\n"] * 10
    save(tmp_path, name, rows(name, texts), rows(name, texts))
    corpus = load(name, data=tmp_path)
    frame = everything(corpus)
    assert frame["tokens"].list.len().eq(frame["sentences"].list.sum()).all()
    assert frame["sentences"].list.min().min() == 1
    empty = 30 if TEXTS[name] == 1 else 0  # with another column a text is not empty
    assert corpus.sizes()["test"] == 100 - empty


@every
def test_a_subset_is_called_one(tmp_path, name):
    texts = ["a text. And more."] * 40
    save(tmp_path, name, rows(name, texts), rows(name, texts), kind="{}_subset.csv.gz")
    with pytest.raises(NotFound, match=rf"corpus {name} was not found .*--subset uses it.*put Zhang et al"):
        load(name, data=tmp_path)
    assert load(name, data=tmp_path, subset=True).subset


def test_the_other_folder_of_amazon(tmp_path):
    texts = ["a text. And more."] * 40
    save(tmp_path, "amazon", rows("amazon", texts), rows("amazon", texts))
    (tmp_path / "amazon_review_full_csv").rename(tmp_path / "amazon_review_csv")
    assert load("amazon", data=tmp_path).sizes()["test"] == 40


@every
def test_a_text_given_later_is_cut_in_the_same_way(tmp_path, name):
    reader = READERS[name]
    text = "I can't\\nwait. 10 out of 10! x:) ) y"
    cut = reader.sentences(text, reader.options())
    assert cut == [["i", "ca", "n't", "wait", "."], ["10", "out", "of", "10", "!"], ["x", ":", ")", ")", "y"]]
    assert [token for sentence in cut for token in sentence] == reader.tokenise(text, reader.options())
