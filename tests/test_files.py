import errno
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful.errors import BadInput, DiskFull, HeedfulError, is_disk_full
from heedful.files import (
    ROW_GROUP,
    Parts,
    _swapped,
    atomic,
    locked,
    open_log,
    remove_temporaries,
    replaced,
    rows_of,
    scan_parquet,
    sink_parquet,
    write_json,
    write_text,
)
from tests.strategies import examples

LARGE = pl.DataFrame({"row": range(5000), "words": [[str(row)] * (row % 3) for row in range(5000)]})


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "large.parquet"
    sink_parquet(path, LARGE.lazy())
    return path


@examples(25)
@given(st.sets(st.integers(0, len(LARGE) - 1), min_size=1, max_size=40))
def test_rows_are_those_of_the_whole_table(large: Path, chosen: set[int]) -> None:
    rows = np.array(sorted(chosen))
    assert_frame_equal(rows_of(scan_parquet(large), rows), LARGE[rows])


@pytest.mark.parametrize(("first", "stop"), [(0, 1), (0, 5000), (ROW_GROUP - 1, ROW_GROUP + 1), (4999, 5000)])
def test_neighbouring_rows_are_those_of_the_whole_table(first: int, stop: int, large: Path) -> None:
    assert_frame_equal(rows_of(scan_parquet(large), np.arange(first, stop)), LARGE[first:stop])


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "file.txt"
    write_text(target, "old")

    def fail() -> None:
        with atomic(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["file.txt"]


def test_a_full_disk_is_said_with_the_file_and_the_remedy(tmp_path: Path) -> None:
    def fail() -> None:
        with atomic(tmp_path / "evidence.parquet"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFull, match=r"evidence\.parquet.*free some space"):
        fail()


def test_nan_never_reaches_json(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"a": float("nan")})
    assert not list(tmp_path.iterdir())


def test_parts_go_on_where_a_killed_writer_stopped(tmp_path: Path) -> None:
    path = tmp_path / "all.parquet"
    Parts(path).add(pl.DataFrame({"a": [1, 2]}))
    resumed = Parts(path)
    assert resumed.done == 1
    resumed.add(pl.DataFrame({"a": [3]}))
    resumed.finish({"about": "numbers"})
    assert pl.read_parquet(path)["a"].to_list() == [1, 2, 3]
    assert pl.read_parquet_metadata(path)["about"] == "numbers"
    assert [file.name for file in tmp_path.iterdir()] == ["all.parquet"]


def test_a_damaged_part_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "all.parquet"
    parts = Parts(path)
    for number in range(3):
        parts.add(pl.DataFrame({"a": [number]}))
    (parts.folder / "000001.parquet").write_text("garbage")
    resumed = Parts(path)
    assert resumed.done == 1
    resumed.add(pl.DataFrame({"a": [7]}))
    resumed.finish()
    assert pl.read_parquet(path)["a"].to_list() == [0, 7]


def test_ctrl_c_leaves_nothing_half_written(tmp_path: Path) -> None:
    def stop() -> None:
        with atomic(tmp_path / "heat.html") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert not list(tmp_path.iterdir())


def test_leftovers_of_a_killed_process_are_cleared(tmp_path: Path) -> None:
    (tmp_path / ".model.safetensors.123.tmp").touch()
    (tmp_path / "model.safetensors").touch()
    remove_temporaries(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]


def test_parts_may_come_in_any_order(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "table.parquet")
    parts.put(1, pl.DataFrame({"a": [3]}))
    assert not parts.has(0)
    assert parts.has(1)
    parts.put(0, pl.DataFrame({"a": [1, 2]}))
    resumed = Parts(tmp_path / "table.parquet")
    assert resumed.done == 2
    resumed.finish()
    assert pl.read_parquet(tmp_path / "table.parquet")["a"].to_list() == [1, 2, 3]


def test_two_writers_of_one_directory_do_not_mix(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    with replaced(folder) as first:
        (first / "mine").touch()
        with pytest.raises(HeedfulError, match="another process is writing there"), replaced(folder) as second:
            (second / "theirs").touch()
        assert [path.name for path in first.iterdir()] == ["mine"]
    assert [path.name for path in folder.iterdir()] == ["mine"]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_writer_killed_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    for left in (".site.new.tmp", ".site.old.tmp"):
        (tmp_path / left / "deep").mkdir(parents=True)
        (tmp_path / left / "deep" / left).touch()

    def fail() -> None:
        with replaced(folder) as new:
            assert list(new.iterdir()) == []
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (folder / "deep" / ".site.old.tmp").is_file()  # it was moved away, and the new one never came
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_temporary_names_are_not_followed_through_symbolic_links(tmp_path: Path) -> None:
    precious, kept = tmp_path / "precious.txt", tmp_path / "kept"
    precious.write_text("mine")
    kept.mkdir()
    (kept / "file").touch()
    links = [tmp_path / f".file.txt.{os.getpid()}.tmp", *(tmp_path / f".site.{kind}.tmp" for kind in ("new", "old"))]
    for link in links:
        link.symlink_to(precious if link.name.startswith(".file") else kept)
    write_text(tmp_path / "file.txt", "new")
    with replaced(tmp_path / "site") as new:
        (new / "page").touch()
    assert precious.read_text() == "mine"
    assert [path.name for path in kept.iterdir()] == ["file"]
    assert all(link.is_symlink() for link in links)
    made = {"file.txt", "site"}
    assert {path.name for path in tmp_path.iterdir()} == made | {"kept", "precious.txt"} | {each.name for each in links}
    assert not any((tmp_path / name).is_symlink() for name in made)


def test_a_lock_that_is_another_name_of_a_file_is_refused(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    for lock, hold in (
        (tmp_path / "run" / ".lock", lambda: locked(tmp_path / "run")),
        (tmp_path / ".site.lock.tmp", lambda: replaced(tmp_path / "site")),
    ):
        lock.parent.mkdir(exist_ok=True)
        lock.hardlink_to(precious)
        with pytest.raises(BadInput, match="another name of some file: remove it"), hold():
            pass
        lock.unlink()
        with hold():
            pass
    assert precious.read_text() == "mine"


def test_parts_behind_a_symbolic_link_are_neither_read_nor_written(tmp_path: Path) -> None:
    theirs = Parts(tmp_path / "theirs.parquet")
    theirs.add(pl.DataFrame({"a": [1]}))
    (tmp_path / ".mine.parquet.parts").symlink_to(theirs.folder)
    with pytest.raises(BadInput, match=r"\.mine\.parquet\.parts is a symbolic link.*remove it"):
        Parts(tmp_path / "mine.parquet")
    (tmp_path / ".own.parquet.parts").mkdir()
    (tmp_path / ".own.parquet.parts" / "000000.parquet").symlink_to(theirs.folder / "000000.parquet")
    own = Parts(tmp_path / "own.parquet")
    assert own.done == 0
    own.add(pl.DataFrame({"a": [2]}))
    assert (own.read(0)["a"].to_list(), theirs.read(0)["a"].to_list()) == ([2], [1])


def test_a_log_is_added_to_but_never_behind_a_link(tmp_path: Path) -> None:
    log, precious = tmp_path / "log", tmp_path / "precious"
    for line in (b"one\n", b"two\n"):
        with open_log(log, 0o600) as file:
            file.write(line)
    assert log.read_bytes() == b"one\ntwo\n"
    assert log.stat().st_mode & 0o777 == 0o600
    precious.write_text("mine")
    for make in (log.symlink_to, log.hardlink_to):
        log.unlink()
        make(precious)
        with pytest.raises(BadInput, match="is a link"):
            open_log(log)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("swaps", [True, False])
def test_a_directory_is_replaced_in_either_way(tmp_path: Path, swaps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not swaps:
        monkeypatch.setattr("heedful.files._swapped", lambda *_: False)
    for content in ("first", "second"):
        with replaced(tmp_path / "site") as new:
            (new / "page").write_text(content)
        assert (tmp_path / "site" / "page").read_text() == content
        assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert not (tmp_path / "site").stat().st_mode & 0o777 ^ (0o777 & ~_umask())


def test_there_is_a_directory_at_every_moment_of_its_replacement(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    (folder / "one").mkdir(parents=True)
    (tmp_path / "two").mkdir()
    if not _swapped(folder / "one", tmp_path / "two"):
        pytest.skip("this system cannot swap directories")
    missing, looks, ended = 0, 0, threading.Event()

    def watch() -> None:
        nonlocal missing, looks
        while not ended.is_set():
            looks += 1
            missing += not folder.exists()

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(300):
        with replaced(folder):
            pass
    ended.set()
    watcher.join()
    assert looks > 300
    assert missing == 0


def test_a_site_whose_writer_was_killed_between_two_renames_is_put_back(tmp_path: Path) -> None:
    """As on systems that cannot swap directories."""
    (tmp_path / ".site.a1b2C3-_.old.tmp").mkdir()
    (tmp_path / ".site.a1b2C3-_.old.tmp" / "page").touch()

    def fail() -> None:
        with replaced(tmp_path / "site"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert (tmp_path / "site" / "page").exists()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        pl.exceptions.ComputeError("Disk quota exceeded (os error 122)"),
        sqlite3.OperationalError("database or disk is full"),
    ],
)
def test_a_full_disk_is_known_by_whoever_says_so(error: Exception, tmp_path: Path) -> None:
    def fail(write: Callable[[Path], AbstractContextManager[Path]]) -> None:
        with write(tmp_path / "site"):
            raise error

    for write in (atomic, replaced):
        with pytest.raises(DiskFull, match=r"site: free some space"):
            fail(write)
    wrapped = RuntimeError("writing failed")
    wrapped.__cause__ = error
    assert is_disk_full(wrapped)
    assert not is_disk_full(OSError(errno.EACCES, "Permission denied"))


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
