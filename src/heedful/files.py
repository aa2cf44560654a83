"""Files: atomic writes, locks, content hashes, and large Parquet files written in parts."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.errors import BadInput, DiskFull, HeedfulError
from heedful.integrity import checked

TEMPORARY = ".tmp"
ROW_GROUP = 1024  # rows: a writer holds a whole group in memory, and a reader decodes one to get at any row of it


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; it is renamed to `path` on success and removed on failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    if temporary.is_symlink():  # writing would follow it
        temporary.unlink()
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if _is_disk_full(error):
            raise DiskFull(
                f"no space left while writing {path}: free some space and run again; what was finished is kept"
            ) from error
        raise


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Yield a new, empty directory; it replaces `folder` on success and is removed on failure.

    Leftovers of a killed process are removed. While another process is replacing `folder`, this one is refused.
    """
    new, old, lock = (folder.with_name(f".{folder.name}.{kind}{TEMPORARY}") for kind in ("new", "old", "lock"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _exclusive(lock, f"{folder}: another process is writing there; wait for it or stop it"):
        if old.exists() and not old.is_symlink() and not folder.exists():  # killed between the two renames
            old.rename(folder)
        _remove(new)
        _remove(old)
        new.mkdir()
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
            with suppress(OSError):  # Windows does not remove an open file
                lock.unlink()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a run or audit directory; a second process is refused at once.

    The system releases the lock when the process ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _exclusive(folder / ".lock", f"{folder}: another process is working on it; wait for it or stop it"):
        yield


@contextmanager
def _exclusive(lock: Path, refusal: str) -> Iterator[None]:
    """Hold a lock file, or raise an error with the text `refusal` if another process holds it."""
    from filelock import FileLock, Timeout  # slow to import

    held = FileLock(lock)  # opened with O_NOFOLLOW
    try:
        held.acquire(blocking=False)
    except Timeout:
        raise HeedfulError(refusal) from None
    except OSError as error:
        if lock.is_symlink():
            raise BadInput(f"{lock} is a symbolic link, and locks are not followed: remove it") from error
        raise
    try:
        yield
    finally:
        held.release()


def _remove(path: Path) -> None:
    """Remove a file or directory, if there is one; of a symbolic link the link, not its target."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_temporaries(folder: Path) -> None:
    """Remove the temporary files that a killed process left in `folder`."""
    for leftover in folder.rglob(f".*{TEMPORARY}"):
        leftover.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically, with the same bytes on every system."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_parquet(path: Path, frame: pl.DataFrame, metadata: Mapping[str, str] | None = None) -> None:
    """Write a frame atomically."""
    with atomic(path) as temporary:
        frame.write_parquet(temporary, metadata=dict(metadata or {}))


def sink_parquet(path: Path, frame: pl.LazyFrame, metadata: Mapping[str, str] | None = None) -> None:
    """Write a lazy frame atomically and in bounded memory."""
    with atomic(path) as temporary:
        frame.sink_parquet(temporary, metadata=dict(metadata or {}), row_group_size=ROW_GROUP)


def scan_parquet(path: Path | list[Path]) -> pl.LazyFrame:
    """Scan a Parquet file; brackets and stars in its path are not patterns. One that was damaged is refused."""
    for file in [path] if isinstance(path, Path) else path:
        checked(file)
    return pl.scan_parquet(path, glob=False)


def row_count(table: pl.LazyFrame) -> int:
    """How many rows a table has; of a Parquet file, its footer tells."""
    return int(table.select(pl.len()).collect().item())


def rows_of(table: pl.LazyFrame, rows: NDArray[np.int64]) -> pl.DataFrame:
    """The given rows of a file, in ascending order; rows between them are not kept in memory."""
    first, count = int(rows[0]), int(rows[-1] + 1 - rows[0])
    near = table.slice(first, count)
    if len(rows) == count:
        return near.collect()
    wanted = pl.Series(rows - first, dtype=pl.UInt32).implode()
    numbered = near.with_row_index("heedful_row").filter(pl.col("heedful_row").is_in(wanted))
    return numbered.drop("heedful_row").collect(engine="streaming")


def fingerprint(value: Any) -> str:
    """A short hash of a JSON-serialisable value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class Parts:
    """A Parquet file too large for memory, written in parts that are merged at the end.

    Each part is written atomically, so a killed writer resumes at part `done`.
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
        """Whether a part has been written."""
        return _is_parquet(self._part(index))

    def read(self, index: int) -> pl.DataFrame:
        """A part that has been written."""
        return pl.read_parquet(self._part(index))

    def put(self, index: int, frame: pl.DataFrame) -> None:
        """Write a part; several processes may write different parts at the same time."""
        write_parquet(self._part(index), frame)

    @property
    def rows(self) -> int:
        """Number of rows in the parts written so far."""
        return row_count(self.scan()) if self.done else 0

    def scan(self) -> pl.LazyFrame:
        """The parts written so far, in order."""
        return scan_parquet([self._part(index) for index in range(self.done)])

    def finish(self, metadata: Mapping[str, str] | None = None, merged: pl.LazyFrame | None = None) -> None:
        """Merge the parts (or `merged`, a frame made from them) into the file in bounded memory; remove the parts."""
        sink_parquet(self.path, self.scan() if merged is None else merged, metadata)
        self.discard()

    def discard(self) -> None:
        """Remove the parts written so far."""
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
