import gzip

import pytest

from heedful.corpora.loading import load
from heedful.corpora.readers.sst import read_tree
from heedful.errors import BadInput, NotFound
from tests.corpora.native import pack, tree, write

SENTENCES = [
    (4, "A -LRB- very -RRB- good film , made in 1999"),
    (0, "A bad film that nobody should see ."),
    (3, "It 's quite a nice little film indeed"),
    (1, "Not a film that anyone will like"),
    (2, "A film that neither pleases nor displeases ."),
    (3, "too short to keep"),
    (3, "the longest of all is this sentence which goes on and on for ever"),
]
TREES = "\n".join(tree(label, words) for label, words in SENTENCES) + "\n"
FILES = {f"trees/{split}.txt": TREES.encode() for split in ("train", "dev", "test")}


def tokens(corpus, split="train"):
    return {row["id"]: (" ".join(row["tokens"]), row["label"]) for row in corpus.split(split).iter_rows(named=True)}


def folder(tmp_path):
    for split in ("dev", "test"):
        write(tmp_path / "sst" / f"{split}.txt", TREES)
    write(tmp_path / "sst" / "train.txt.gz", TREES)


def test_cleaning_labels_and_filters(tmp_path):
    folder(tmp_path)
    corpus = load("sst", data=tmp_path)
    assert corpus.classes == ("negative", "positive")
    assert tokens(corpus) == {
        "train-1": ("a very good film made in qqq", 1),
        "train-2": ("a bad film that nobody should see", 0),
        "train-3": ("it s quite a nice little film indeed", 1),
        "train-4": ("not a film that anyone will like", 0),
    }
    assert corpus.counts() == {"train": [2, 2], "dev": [2, 2], "test": [2, 2]}
    assert not corpus.subset
    released = load("sst", data=tmp_path, options={"cleaning": "released"})
    assert tokens(released)["train-1"] == ("a very good film made in 1999", 1)


@pytest.mark.parametrize("name", ["sst/trainDevTestTrees_PTB.zip", "trainDevTestTrees_PTB.zip", "sst/trees.zip"])
def test_the_zip_gives_the_same(tmp_path, name):
    folder(tmp_path / "plain")
    pack(tmp_path / "packed" / name, FILES)
    assert tokens(load("sst", data=tmp_path / "packed")) == tokens(load("sst", data=tmp_path / "plain"))


def test_a_subset_is_used_only_when_asked(tmp_path):
    for split in ("dev", "test"):
        write(tmp_path / "sst" / f"{split}.txt", TREES)
    write(tmp_path / "sst" / "train_subset.txt.gz", TREES)
    with pytest.raises(NotFound, match=r"sst was not found .*a subset is there.*heedful corpora get sst"):
        load("sst", data=tmp_path)
    corpus = load("sst", data=tmp_path, subset=True)
    assert corpus.subset
    assert corpus.label == "sst (subset)"
    write(tmp_path / "sst" / "train.txt", TREES)
    assert not load("sst", data=tmp_path, subset=True).subset


def test_bad_files(tmp_path):
    folder(tmp_path)
    write(tmp_path / "sst" / "dev.txt", TREES + "(3 (2 cut) (2 off\n")
    with pytest.raises(BadInput, match=r"dev\.txt, line 8: 2 bracket\(s\) never closed"):
        load("sst", data=tmp_path)
    write(tmp_path / "sst" / "dev.txt", TREES.encode() + "(3 caf\xe9)".encode("latin-1"))
    with pytest.raises(BadInput, match=r"dev\.txt, line 8: byte 0xe9 is not UTF-8"):
        load("sst", data=tmp_path)
    write(tmp_path / "sst" / "dev.txt", TREES)
    (tmp_path / "sst" / "train.txt.gz").write_bytes(gzip.compress(TREES.encode())[:-9])
    with pytest.raises(BadInput, match=r"train\.txt\.gz is damaged or was cut short"):
        load("sst", data=tmp_path)


def test_bad_zips(tmp_path):
    path = pack(tmp_path / "trainDevTestTrees_PTB.zip", FILES | {"trees/dev.txt": b"(3 caf\xe9)"})
    with pytest.raises(BadInput, match=r"PTB\.zip, trees/dev\.txt, line 1: byte 0xe9 is not UTF-8"):
        load("sst", data=tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(BadInput, match=r"PTB\.zip is damaged or was cut short"):
        load("sst", data=tmp_path)


def test_the_trees_of_these_tests_are_trees():
    assert read_tree(tree(3, "a b c"), "here") == (3, ["a", "b", "c"])
