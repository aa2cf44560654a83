from collections.abc import Callable
from pathlib import Path, PurePosixPath

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


def _damaged_zip(damage: Callable[[bytearray], None], folder: Path) -> Path:
    path = pack(folder / "files.zip", {"a.txt": b"one\ntwo\n" * 50})
    content = bytearray(path.read_bytes())
    damage(content)
    path.write_bytes(content)
    return path


def _content(data: bytearray) -> None:
    data[60] ^= 1  # of the member: its checksum is wrong


def _encrypted(data: bytearray) -> None:
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1


def _method(data: bytearray) -> None:
    data[8] = data[data.index(b"PK\1\2") + 10] = 99


def _version(data: bytearray) -> None:
    data[data.index(b"PK\1\2") + 6] = 200


def _directory(data: bytearray) -> None:
    data[data.index(b"PK\5\6") + 12 :] = b"\xff" * 8 + bytes(2)


def _nameless(data: bytearray) -> None:
    place = data.index(b"PK\1\2")
    data[place + 46] = data[30] = 0  # names end at a zero


def _header_place(data: bytearray) -> None:
    data[data.index(b"PK\1\2") + 42] = 9


@pytest.mark.parametrize("damage", [_content, _encrypted, _method, _version, _directory, _nameless, _header_place])
def test_zips_damaged_in_any_way_are_named(damage: Callable[[bytearray], None], tmp_path: Path) -> None:
    path = _damaged_zip(damage, tmp_path)
    for read in (members, member_lines):
        with pytest.raises(BadInput, match=r"files\.zip is damaged or was cut short \(.+\)"):
            list(read(path, lambda name: True))


def test_what_is_done_with_members_is_no_damage(tmp_path: Path) -> None:
    path = pack(tmp_path / "files.zip", {"a.txt": b"one"})

    def use() -> None:
        for _ in members(path, lambda name: True):
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        use()
