import pytest

from heedful.corpora.loading import load
from tests.corpora.native import pack, unpack

GROUPS = {"rec.sport.baseball": "baseball", "rec.sport.hockey": "hockey"}


def post(text):
    return f"From: someone@example.org\nSubject: secret\n\n{text}\n\n--\nSignature of someone\n".encode("latin-1")


def posts():
    files = {"20news-bydate-train/sci.space/1": post("rockets are not a sport and should not be read here")}
    for half, count in (("train", 20), ("test", 10)):
        for base, (group, word) in enumerate(GROUPS.items()):
            for number in range(count):
                text = f"> quoted words\nI saw {number} games of {word}!!! It wasn't café (good) ... at all"
                files[f"20news-bydate-{half}/{group}/{base}{number:03d}"] = post(text)
    files["20news-bydate-train/rec.sport.hockey/9001"] = post("> all quoted")
    files["20news-bydate-train/rec.sport.hockey/9002"] = post("word " * 500)
    return files


@pytest.mark.parametrize("packed", [True, False])
def test_cleaning_and_split(tmp_path, packed):
    if packed:
        pack(tmp_path / "20news-bydate.tar.gz", posts())
    else:
        unpack(tmp_path / "20news", posts())
    corpus = load("newsgroups", data=tmp_path)
    assert corpus.classes == ("baseball", "hockey")
    counts = corpus.counts()
    assert sum(map(sum, counts.values())) == 60
    assert counts["test"] in ([6, 6], [6, 5])  # a fifth by class, but for the post that is too long
    assert counts["dev"] in ([5, 5], [5, 4], [4, 5])
    rows = {row["id"]: row for split in counts for row in corpus.split(split).iter_rows(named=True)}
    assert "train-9001" not in rows
    assert "train-9002" not in rows
    text = " ".join(rows["train-0007"]["tokens"])
    assert text == "i saw qqq games of baseball it was n ' t café good at all"


def test_folder_and_archive_give_the_same_split(tmp_path):
    pack(tmp_path / "packed" / "20news" / "20news-bydate-rec.sport.tar.gz", dict(reversed(posts().items())))
    unpack(tmp_path / "plain", posts())
    packed, plain = (load("newsgroups", data=tmp_path / name) for name in ("packed", "plain"))
    for split in ("train", "dev", "test"):
        assert packed.split(split).sort("id").equals(plain.split(split).sort("id"))
