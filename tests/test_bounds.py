"""Files that unpack to far more than they seem to hold are refused, in little memory; what is right can be read."""

import csv
import gzip
import io
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from heedful.bounds import LONGEST, MB, SMALL
from heedful.corpora.archives import member_lines, members
from heedful.corpora.json_objects import json_objects
from heedful.corpora.tabular import csv_rows, values
from heedful.errors import BadConfig, BadInput
from heedful.text.word_vectors import read_vectors

BOMB = 96 * MB  # unpacked; about a thousandth of it packed


def everything(name: object) -> bool:
    return True


def zipped(path: Path, piece: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.txt", "w") as file:
        for _ in range(BOMB // len(piece)):
            file.write(piece)
    return path


def packed(path: Path, piece: bytes, start: bytes = b"") -> Path:
    with gzip.open(path, "wb", compresslevel=6) as file:
        file.write(start)
        for _ in range(BOMB // len(piece)):
            file.write(piece)
    return path


def tarred(path: Path, piece: bytes) -> Path:
    with tarfile.open(path, "w:gz", compresslevel=6) as archive:
        entry = tarfile.TarInfo("a.txt")
        entry.size = BOMB // len(piece) * len(piece)
        archive.addfile(entry, io.BytesIO(piece * (BOMB // len(piece))))
    return path


@contextmanager
def memory_below(megabytes: float) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * MB
    finally:
        tracemalloc.stop()


def read(path: Path) -> None:
    for _ in csv_rows(path) if ".csv" in path.name else member_lines(path, everything):
        pass


LONG = b"a" * MB
MANY = (b"a" * 4095 + b"\n") * (MB // 4096)
QUOTED = b'"' + MANY + b'",'  # lines end within fields only
BOMBS: dict[str, tuple[Callable[[Path, bytes], Path], bytes, str]] = {
    "a line in a.zip": (zipped, LONG, r"a line in a.zip, a.txt, line 1: longer than 16 MB"),
    "many lines in a.zip": (zipped, MANY, r"many lines in a.zip: its 0.\d MB unpack to more than 64 MB"),
    "a line in a.tar.gz": (tarred, LONG, r"a line in a.tar.gz, a.txt, line 1: longer than 16 MB"),
    "many lines in a.tgz": (tarred, MANY, r"many lines in a.tgz: its 0.\d MB unpack to more than 64 MB"),
    "a field.csv.gz": (packed, LONG, r"a field.csv.gz, line 1: longer than 16 MB"),
    "an open quote.csv.gz": (packed, QUOTED, r"an open quote.csv.gz, row that begins on line 1: longer than 16 MB"),
    "rows.csv.gz": (packed, MANY, r"rows.csv.gz: its 0.\d MB unpack to more than 64 MB"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_unpacks_to_much_is_refused_in_little_memory(tmp_path: Path, name: str) -> None:
    make, piece, message = BOMBS[name]
    path = make(tmp_path / name, piece)
    assert path.stat().st_size < MB
    with memory_below(120), pytest.raises(BadInput, match=message):
        read(path)


def test_small_files_in_archives_are_small(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", LONG)
    with memory_below(60), pytest.raises(BadInput, match=r"x\.zip, a\.txt: longer than 16 MB"):
        list(members(path, everything))


def test_vectors_and_objects_are_bounded_too(tmp_path: Path) -> None:
    cases = {
        "x.txt.gz": (b"", r"x.txt.gz, line 1: longer than 16 MB"),
        "x.bin.gz": (b"9 3\n", r"x.bin.gz, row 1: longer than 16 MB"),
    }
    for name, (start, message) in cases.items():
        path = packed(tmp_path / name, LONG, start)
        with memory_below(120), pytest.raises(BadInput, match=message):
            read_vectors(path, ["film"], 3)
    path = packed(tmp_path / "x.json.gz", b" " * MB)
    with memory_below(60), pytest.raises(BadInput, match="unpack to more than 64 MB"):
        list(json_objects(path))


def test_a_tar_cannot_ask_for_memory(tmp_path: Path) -> None:
    """By the length of a name, by entries without number, or by holes."""
    path = tmp_path / "name.tar.gz"
    with gzip.open(path, "wb") as file:
        entry = tarfile.TarInfo("././@LongLink")
        entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 60 * MB
        file.write(entry.tobuf(tarfile.GNU_FORMAT))
        file.write(bytes(60 * MB))
    with (
        memory_below(20),
        pytest.raises(BadInput, match=r"name\.tar\.gz is damaged .*a description of 62,914,560 bytes"),
    ):
        read(path)
    path = tmp_path / "entries.tar.gz"
    with gzip.open(path, "wb") as file:
        file.write(tarfile.TarInfo("a").tobuf() * 10_000 + bytes(1024))
    with memory_below(5):
        assert sum(1 for _ in members(path, everything)) == 10_000
    path = tmp_path / "sparse.tar"
    entry = tarfile.TarInfo("a.txt")
    entry.type, entry.size = tarfile.GNUTYPE_SPARSE, 512
    header = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    header[386:410] = b"%011o\0%011o\0" % (0, 512)
    header[483:495] = b"%011o\0" % (6 << 30)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path.write_bytes(bytes(header) + b"a\n" * 256 + bytes(1024))
    with memory_below(120), pytest.raises(BadInput, match="longer than 16 MB"):
        read(path)


def test_texts_of_a_parquet_table_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"text": pl.repeat("a" * (LONGEST + 1), 3, eager=True)}).write_parquet(path)
    assert path.stat().st_size < MB
    with pytest.raises(BadInput, match=r"x\.parquet, column 'text': longer than 16 MB"):
        next(values(path, ["text"]))


def test_what_is_right_is_read_whole(tmp_path: Path) -> None:
    """A row of nearly the most, many rows, and a table of more than any file may unpack to, at an ordinary ratio."""
    texts = ["a" * (LONGEST - 100), "b,c\n" * 1000, *("d" * 40 for _ in range(10_000))]
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wt", newline="") as file:
        csv.writer(file).writerows([text] for text in texts)
    assert [row for _, row in csv_rows(path)] == [[text] for text in texts]
    path = tmp_path / "much.csv.gz"
    row = bytes(range(97, 123)) * 40 + b"\n"
    with gzip.open(path, "wb", compresslevel=0) as file:
        for _ in range(SMALL // len(row) // 1000 + 1):
            file.write(row * 1000)
    assert sum(1 for _ in csv_rows(path)) * len(row) > SMALL


def test_bounds_can_be_raised_and_lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "rows.csv.gz", MANY)
    monkeypatch.setenv("HEEDFUL_UNPACKED_GB", "1")
    next(csv_rows(path))
    monkeypatch.setenv("HEEDFUL_UNPACKED_GB", "0.0001")
    with pytest.raises(BadInput, match=r"set HEEDFUL_UNPACKED_GB to the GB"):
        next(csv_rows(path))
    monkeypatch.delenv("HEEDFUL_UNPACKED_GB")
    path = tmp_path / "line.csv"
    path.write_text("a" * (20 * MB))
    with pytest.raises(BadInput, match="set HEEDFUL_LONGEST_MB to the MB"):
        next(csv_rows(path))
    monkeypatch.setenv("HEEDFUL_LONGEST_MB", "20")
    assert len(next(csv_rows(path))[1][0]) == 20 * MB
    for wrong in ("many", "0", "-1", "nan"):
        monkeypatch.setenv("HEEDFUL_LONGEST_MB", wrong)
        with pytest.raises(BadConfig, match=f"HEEDFUL_LONGEST_MB={wrong}: give a number above 0"):
            next(csv_rows(path))
