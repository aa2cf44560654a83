import errno
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful.errors import DiskFull, HeedfulError
from heedful.files import (
    ROW_GROUP,
    Parts,
    atomic,
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
    target = tmp_path / "file.txt"
    target.with_name(f".file.txt.{os.getpid()}.tmp").symlink_to(precious)
    write_text(target, "new")
    assert (target.read_text(), precious.read_text()) == ("new", "mine")
    assert not target.is_symlink()
    for name in (".site.new.tmp", ".site.old.tmp"):
        (tmp_path / name).symlink_to(kept)
    with replaced(tmp_path / "site") as new:
        (new / "page").touch()
    assert [path.name for path in kept.iterdir()] == ["file"]
    assert not (tmp_path / "site").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.txt", "kept", "precious.txt", "site"]
