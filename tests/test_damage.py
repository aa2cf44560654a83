"""Libraries that stumble over damaged files: one error that names the file, and nothing of theirs on standard error."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from heedful.audits.given_importance import read_given_importance
from heedful.corpora.tabular import values
from heedful.damage import guarded, panics_as_errors
from heedful.errors import BadInput, resource_limit
from heedful.evidence import Evidence, collect, damage_reported, scan
from tests.making import make_evidence

REPORT = b"\nthread 'tokio-rt-worker' (7) panicked at crates/polars-io/src/source.rs:585:9:\nassertion failed: size\n"


def panic(*_: object, **__: object) -> None:
    os.write(2, REPORT)
    raise pl.exceptions.PanicException("assertion failed: size\nmore")


def test_a_panic_is_an_error_of_polars_and_its_report_is_not_seen(capfd: pytest.CaptureFixture[str]) -> None:
    def warn_and_panic() -> None:
        os.write(2, b"a warning\n")
        panic()

    with pytest.raises(pl.exceptions.PolarsError, match=r"assertion failed: size$"), panics_as_errors():
        warn_and_panic()
    assert capfd.readouterr().err == "a warning\n"


def test_what_is_no_panic_goes_on_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    with panics_as_errors(), panics_as_errors():  # within another one, too
        print("progress", file=sys.stderr)
    with pytest.raises(KeyError), panics_as_errors():
        raise KeyError("a")
    assert capfd.readouterr().err == "progress\n"


def test_without_standard_error_files_are_still_read(tmp_path: Path) -> None:
    make_evidence().write(tmp_path / "e.parquet")
    code = (
        f"import os; os.close(2); from heedful.evidence import Evidence; Evidence.read({str(tmp_path / 'e.parquet')!r})"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_what_is_done_with_items_is_outside_of_their_guard(tmp_path: Path) -> None:
    def use() -> None:
        for _ in guarded(iter([1, 2]), lambda: damage_reported(tmp_path / "x")):
            raise OSError("mine")

    with pytest.raises(OSError, match="mine"):
        use()


def test_files_at_which_polars_panics_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "e.parquet"
    make_evidence().write(path)
    table = scan(path)
    monkeypatch.setattr(pl.LazyFrame, "collect_batches", panic)
    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    for read in (
        lambda: collect(table, path),
        lambda: Evidence.read(path),
        lambda: list(values(path, ["id"])),
    ):
        with pytest.raises(BadInput, match=r"e\.parquet.*assertion failed: size"):
            read()
    pl.DataFrame({"id": ["a"], "method": ["m"], "values": [[1.0]]}).write_parquet(tmp_path / "i.parquet")
    with pytest.raises(BadInput, match=r"i\.parquet: cannot be read as importance"):
        read_given_importance(tmp_path / "i.parquet")
    assert "panicked" not in capfd.readouterr().err


def test_limits_of_the_system_are_not_taken_for_damage(tmp_path: Path) -> None:
    for error in (
        OSError(errno.EMFILE, "Too many open files"),
        pl.exceptions.ComputeError("Too many open files (os error 24): e.parquet"),
    ):
        assert "ulimit -n" in str(resource_limit(error))
        with pytest.raises(BadInput, match="could not be read: too many open files"), damage_reported(tmp_path / "e"):
            raise error
    assert "memory" in str(resource_limit(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")))
    assert resource_limit(RuntimeError("shape mismatch")) is None
    assert resource_limit(OSError(errno.ENOENT, "no such file")) is None


@pytest.mark.parametrize("where", ["begin", "middle", "end"])
def test_tables_damaged_in_any_part_are_named(tmp_path: Path, where: str) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"text": [f"text {n}" for n in range(500)]}).write_parquet(path)
    content = bytearray(path.read_bytes())
    place = {"begin": 4, "middle": len(content) // 3, "end": len(content) - 60}[where]
    content[place : place + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"t\.parquet is not a Parquet file, or damaged"):
        list(values(path, ["text"]))
