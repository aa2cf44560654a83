import pytest

from heedful.corpora.loading import load
from heedful.errors import BadInput
from tests.corpora.native import write


def items(count):
    return "".join(
        f'"{number % 4 + 1}","A title","Item {number}: it\'s ""news"" from\\Oslo"\n' for number in range(count)
    )


def test_two_classes_description_only(tmp_path):
    write(tmp_path / "ag_news_csv" / "train.csv", items(160))
    write(tmp_path / "ag_news_csv" / "test.csv.gz", items(16))
    corpus = load("agnews", data=tmp_path)
    assert corpus.classes == ("world", "business")
    assert corpus.counts()["test"] == [4, 4]
    assert sum(corpus.counts()["train"]) == 68
    assert sum(corpus.counts()["dev"]) == 12
    first = corpus.split("test").row(0, named=True)
    assert " ".join(first["tokens"]) == 'item qqq : it \'s " news " from\\oslo'
    assert (first["id"], first["label"]) == ("test-000001", 0)
    assert not corpus.subset


def test_subset(tmp_path):
    write(tmp_path / "ag_news_csv" / "train_subset.csv.gz", items(160))
    write(tmp_path / "ag_news_csv" / "test.csv", items(16))
    assert load("agnews", data=tmp_path, subset=True).subset


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('"7","t","d"\n', r"train\.csv, line 9: should be class .* found \['7', 't', 'd'\]"),
        ('"1","t"\n', r"train\.csv, line 9: should be class"),
        ('"1","t","never closed\n', r"train\.csv, row that begins on line 9: .*double quotes"),
        ('"1","t","a "bad" quote"\n', r"train\.csv, row that begins on line 9: .*must be doubled"),
    ],
)
def test_bad_rows(tmp_path, row, message):
    write(tmp_path / "ag_news_csv" / "train.csv", items(8) + row)
    write(tmp_path / "ag_news_csv" / "test.csv", items(16))
    with pytest.raises(BadInput, match=message):
        load("agnews", data=tmp_path)
