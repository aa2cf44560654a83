"""Files appear whole or not at all, and are known by their content."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from heedful.errors import DiskFull, HeedfulError

try:
    import fcntl
except ImportError:  # not on Windows; there two processes that write to one place are the user's own affair
    fcntl = None  # type: ignore[assignment]

TEMPORARY = ".tmp"


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; when the block ends well it becomes `path`, otherwise it vanishes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if _is_disk_full(error):
            raise DiskFull(
                f"no space left while writing {path}: free some space and run again; what was finished before is kept"
            ) from error
        raise


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Give a new directory beside `folder`; when the block ends well it takes that one's place, otherwise it vanishes.

    What a killed writer left is cleared by the next one; a writer that is still at work is not disturbed.
    """
    new, old = (folder.with_name(f".{folder.name}.{age}{TEMPORARY}") for age in ("new", "old"))
    with _alone(new, folder):
        if old.exists() and not folder.exists():  # killed between the two renamings
            old.rename(folder)
        try:
            yield new
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
        except BaseException as error:
            if old.exists() and not folder.exists():
                old.rename(folder)
            if _is_disk_full(error):
                raise DiskFull(f"no space left while writing {folder}: free some space and write it again") from error
            raise
        finally:
            shutil.rmtree(new, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _alone(new: Path, folder: Path) -> Iterator[None]:
    """Make an empty directory that no other process writes into until the block ends."""
    new.mkdir(parents=True, exist_ok=True)
    handle = None
    try:
        if fcntl is not None:
            handle = os.open(new, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HeedfulError(f"{folder}: another process is writing there; wait for it or stop it") from None
        for leftover in new.iterdir():
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        yield
    finally:
        if handle is not None:
            os.close(handle)  # and so unlocked


def remove_temporaries(folder: Path) -> None:
    """Clear what a killed process left half-written in `folder`."""
    for leftover in folder.rglob(f".*{TEMPORARY}"):
        leftover.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write JSON that a person can read and a diff can compare."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_parquet(path: Path, frame: pl.DataFrame, metadata: Mapping[str, str] | None = None) -> None:
    """Write a frame, whole or not at all."""
    with atomic(path) as temporary:
        frame.write_parquet(temporary, metadata=dict(metadata or {}))


def scan_parquet(path: Path | list[Path]) -> pl.LazyFrame:
    """A Parquet file, lazily; brackets and stars in its path are only characters."""
    return pl.scan_parquet(path, glob=False)


def content_fingerprint(path: Path) -> str:
    """A short hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def fingerprint(value: Any) -> str:
    """A short hash of anything that JSON can hold."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class Parts:
    """A Parquet file too large for memory, written in parts that are merged at the end.

    Each part appears whole, so that a killed writer goes on at part `done`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.with_name(f".{path.name}.parts")
        self.done = 0
        while _is_parquet(self._part(self.done)):
            self.done += 1

    def add(self, frame: pl.DataFrame) -> None:
        """Write the next part."""
        self.put(self.done, frame)
        self.done += 1

    def has(self, index: int) -> bool:
        """Whether a part is there, whatever others are."""
        return _is_parquet(self._part(index))

    def put(self, index: int, frame: pl.DataFrame) -> None:
        """Write any part; several processes may do so, each its own."""
        write_parquet(self._part(index), frame)

    @property
    def rows(self) -> int:
        """How many rows the parts written so far have."""
        return int(self.scan().select(pl.len()).collect().item()) if self.done else 0

    def scan(self) -> pl.LazyFrame:
        """The parts written so far, in order."""
        return scan_parquet([self._part(index) for index in range(self.done)])

    def finish(self, metadata: Mapping[str, str] | None = None, merged: pl.LazyFrame | None = None) -> None:
        """Merge the parts (or a frame made of them) into the file itself, in bounded memory, and remove them."""
        with atomic(self.path) as temporary:
            (self.scan() if merged is None else merged).sink_parquet(temporary, metadata=dict(metadata or {}))
        self.discard()

    def discard(self) -> None:
        """Forget the parts written so far."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.done = 0

    def _part(self, index: int) -> Path:
        return self.folder / f"{index:06d}.parquet"


def _is_parquet(path: Path) -> bool:
    try:
        pl.read_parquet_schema(path)
    except (FileNotFoundError, pl.exceptions.PolarsError):  # a damaged part is written again
        return False
    return True


def _is_disk_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return "No space left on device" in str(error)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the run's lock; the system releases it when the process ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HeedfulError(
                    f"{folder}: another process is working on this run; wait for it or stop it"
                ) from None
        yield
