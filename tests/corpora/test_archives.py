from pathlib import PurePosixPath

import pytest

from heedful.corpora.archives import files_below, member_lines, members
from heedful.errors import BadInput
from tests.corpora.native import pack, unpack

FILES = {"b/2.txt": b"two\nlines", "a-c.txt": b"x", "a/1.txt": "\ufeffone".encode(), "a/b/3.csv": b"y"}


def test_files_below_are_in_the_order_of_paths(tmp_path):
    unpack(tmp_path / "data", FILES)
    (tmp_path / "data" / "loop").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "gone").symlink_to(tmp_path / "nowhere")
    paths = [path for path in (tmp_path / "data").rglob("*") if path.is_file() and "loop" not in path.parts]
    assert files_below(tmp_path / "data") == [path.relative_to(tmp_path / "data").as_posix() for path in sorted(paths)]


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tgz", "folder"])
def test_every_kind_gives_the_same(tmp_path, name):
    path = unpack(tmp_path / name, FILES) if name == "folder" else pack(tmp_path / name, FILES)

    def wanted(name):
        return name.suffix == ".txt"

    texts = {PurePosixPath(inside): content for inside, content in FILES.items() if inside.endswith(".txt")}
    assert dict(members(path, wanted)) == texts
    assert sorted(member_lines(path, wanted)) == [
        (f"{path}, a-c.txt, line 1", "x"),
        (f"{path}, a/1.txt, line 1", "one"),
        (f"{path}, b/2.txt, line 1", "two\n"),
        (f"{path}, b/2.txt, line 2", "lines"),
    ]


def test_a_line_that_is_not_utf_8(tmp_path):
    path = pack(tmp_path / "x.zip", {"a.txt": b"fine\ncaf\xe9\n"})
    with pytest.raises(BadInput, match=r"x\.zip, a\.txt, line 2: byte 0xe9 is not UTF-8"):
        list(member_lines(path, lambda name: True))


def test_an_archive_that_was_cut_short(tmp_path):
    path = pack(tmp_path / "x.tgz", {"a.txt": bytes(range(256)) * 400})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(BadInput, match=r"x\.tgz is damaged or was cut short"):
        list(member_lines(path, lambda name: name.name == "b.txt"))
