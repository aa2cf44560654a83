import pytest

from heedful.corpora.loading import load
from heedful.errors import BadInput
from tests.corpora.native import write


def tweets(count):
    rows = (
        f'{number}\t{"Y" if number % 4 == 0 else "N"}\tI took "2 pills of it today & slept' for number in range(count)
    )
    return "\n".join(rows) + "\n"


def test_tab_separated(tmp_path):
    short, long = "x1\tN\tfive words are too few\n", f"x2\tN\t{'word ' * 100}\n"
    write(tmp_path / "adr" / "adr.tsv", tweets(100) + short + long)
    corpus = load("adr", data=tmp_path)
    assert corpus.classes == ("no reaction", "reaction")
    counts = corpus.counts()
    assert sum(map(sum, counts.values())) == 100
    assert counts["test"][1] == 5  # a fifth, by class
    rows = {row["id"]: row for split in counts for row in corpus.split(split).iter_rows(named=True)}
    assert " ".join(rows["4"]["tokens"]) == 'i took " qqq pills of it today & slept'
    assert rows["4"]["label"] == 1
    assert rows["5"]["label"] == 0


def test_released_csv(tmp_path):
    lines = [
        f"i took qqq pills of {name} today,{label},{split}"
        for split in ("train", "test")
        for name, label in [("it", 1), ("that", 0)] * 20
    ]
    write(tmp_path / "adr_dataset.csv", "text,label,exp_split\n" + "\n".join(lines))
    counts = load("adr", data=tmp_path).counts()
    assert counts["test"] == [20, 20]
    assert sum(counts["dev"]) == 6
    assert sum(counts["train"]) == 34


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("adr/adr.tsv", "1\tmaybe\ttext\n", r"adr\.tsv, line 1: should be id, Y or N, text"),
        ("adr/adr.tsv", "1 Y text\n", r"adr\.tsv, line 1: should be id, Y or N, text"),
        ("adr_dataset.csv", "text,label\na,1\n", r"adr_dataset\.csv has no column 'exp_split'; it has: text, label"),
        (
            "adr_dataset.csv",
            "text,label,exp_split\na,2,train\n",
            r"adr_dataset\.csv, line 2: label '2' should be 0 or 1",
        ),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    write(tmp_path / name, content)
    with pytest.raises(BadInput, match=message):
        load("adr", data=tmp_path)
