import gzip

import pytest

from heedful.corpora.loading import load
from heedful.errors import BadInput
from tests.corpora.native import pack, unpack


def reviews(each=20):
    files = {"aclImdb/README": b"read me", "aclImdb/train/unsup/0_0.txt": b"no label at all here, none whatever"}
    for split in ("train", "test"):
        for side, stars in (("pos", 9), ("neg", 2)):
            for number in range(each):
                text = f"Film {number} isn't <br /><br />for everyone, but {side} is what I felt."
                files[f"aclImdb/{split}/{side}/{number}_{stars}.txt"] = text.encode()
    files["aclImdb/train/pos/100_9.txt"] = b"word " * 400
    files["aclImdb/train/pos/101_9.txt"] = b"one two three four five six"  # six words: too few
    return files


def test_presets_read_the_same_reviews(tmp_path):
    pack(tmp_path / "aclImdb_v1.tar.gz", reviews())
    paper = load("imdb", data=tmp_path)
    released = load("imdb", data=tmp_path, options={"cleaning": "released"})
    assert paper.classes == ("negative", "positive")
    for split, expected in (("train", 31), ("dev", 9), ("test", 8)):  # 41 + 40 below 400 words; one is too short
        assert len(paper.split(split)) == expected
        assert paper.split(split)["id"].equals(released.split(split)["id"])
    rows = {row["id"]: row for split in ("train", "dev") for row in paper.split(split).iter_rows(named=True)}
    assert "train-pos-100_9" not in rows
    assert not any("unsup" in name for name in rows)
    assert " ".join(rows["train-neg-3_2"]["tokens"]) == "film qqq is n't for everyone , but neg is what i felt ."
    assert rows["train-neg-3_2"]["label"] == 0
    assert rows["train-pos-3_9"]["label"] == 1
    rows = {row["id"]: row for split in ("train", "dev") for row in released.split(split).iter_rows(named=True)}
    assert " ".join(rows["train-neg-3_2"]["tokens"]) == "film 3 isn't br br for everyone but neg is what i felt"
    assert "train-pos-101_9" not in rows


@pytest.mark.parametrize("name", ["imdb/aclImdb_labelled.tar.gz", "imdb/aclImdb_v1.tar"])
def test_archive_and_folder_give_the_same(tmp_path, name):
    pack(tmp_path / "packed" / name, reviews())
    unpack(tmp_path / "plain", reviews())
    packed, plain = load("imdb", data=tmp_path / "packed"), load("imdb", data=tmp_path / "plain")
    for split in ("train", "dev", "test"):
        assert packed.split(split).sort("id").equals(plain.split(split).sort("id"))


@pytest.mark.parametrize("lost", [20, 2000])
def test_cut_off_archives(tmp_path, lost):
    path = pack(tmp_path / "aclImdb_v1.tar.gz", reviews())
    path.write_bytes(path.read_bytes()[:-lost])
    with pytest.raises(BadInput, match=r"aclImdb_v1\.tar\.gz is damaged or was cut short.*again"):
        load("imdb", data=tmp_path)


def test_cut_off_tar(tmp_path):
    path = pack(tmp_path / "aclImdb_v1.tar", reviews())
    path.write_bytes(path.read_bytes()[: 512 * 21])
    with pytest.raises(BadInput, match=r"aclImdb_v1\.tar is damaged or was cut short"):
        load("imdb", data=tmp_path)


def test_not_a_tar_and_not_utf8(tmp_path):
    path = tmp_path / "aclImdb_v1.tar.gz"
    path.write_bytes(gzip.compress(b"<html>not found</html>"))
    with pytest.raises(BadInput, match=r"aclImdb_v1\.tar\.gz is damaged"):
        load("imdb", data=tmp_path)
    pack(path, reviews() | {"aclImdb/test/neg/7_2.txt": b"caf\xe9"})
    with pytest.raises(BadInput, match=r"aclImdb_v1\.tar\.gz, aclImdb/test/neg/7_2\.txt: byte 0xe9 is not UTF-8"):
        load("imdb", data=tmp_path)
