"""Files: atomic writes, locks, content hashes, and large Parquet files written in parts."""

import ctypes
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.errors import BadInput, HeedfulError, disk_full_named
from heedful.integrity import checked
from heedful.temporaries import (
    ENDING,
    hidden_name,
    hidden_names,
    remove,
    remove_leftover,
    temporary_file,
    temporary_folder,
)

ROW_GROUP = 1024  # rows: a writer holds a whole group in memory, and a reader decodes one to get at any row of it


_OLD = f".old{ENDING}"


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; it is renamed to `path` on success and removed on failure."""
    with disk_full_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_file(path) as temporary:
            yield temporary
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.replace(path)


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Yield a new, empty directory; it replaces `folder` on success and is removed on failure.

    Where the system can swap two directories, there is no moment without `folder`. Leftovers of a killed process are
    removed. While another process is replacing `folder`, this one is refused.
    """
    lock = folder.with_name(f".{folder.name}.lock{ENDING}")
    with disk_full_named(folder, "write it again"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(lock, f"{folder}: another process is writing there; wait for it or stop it"):
            try:
                _restore(folder)
                with temporary_folder(folder) as new:
                    yield new
                    _put(new, folder)
            finally:
                with suppress(OSError):  # Windows does not remove an open file
                    lock.unlink()


def _put(new: Path, folder: Path) -> None:
    """Rename a directory to `folder`; what was there gets the name of the new one, or is removed."""
    if not os.path.lexists(folder):
        new.rename(folder)
    elif not _swapped(new, folder):
        old = hidden_name(folder, _OLD)
        folder.rename(old)
        try:
            new.rename(folder)
        except BaseException:
            old.rename(folder)
            raise
        remove(old)


def _swapped(one: Path, other: Path) -> bool:
    """Swap the names of two directories in one step; False where the system or the file system cannot."""
    if sys.platform != "linux":
        return False
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):  # an older C library
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(swap(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def _restore(folder: Path) -> None:
    """Put a directory back that was moved away by a process which was killed before it put the new one in its place."""
    moved = [path for path in hidden_names(folder) if path.name.endswith(_OLD) and path.is_dir()]
    if moved and not os.path.lexists(folder):
        max(moved, key=lambda path: path.stat().st_mtime).rename(folder)


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

    _check_lock(lock)
    held = FileLock(lock)  # opened with O_NOFOLLOW
    try:
        held.acquire(blocking=False)
    except Timeout:
        raise HeedfulError(refusal) from None
    except OSError:
        _check_lock(lock)
        raise
    try:
        yield
    finally:
        held.release()


def _check_lock(lock: Path) -> None:
    """Raise if a lock is a link, whose target some versions of filelock would truncate, or no file at all."""
    try:
        status = lock.lstat()
    except OSError:
        return
    if stat.S_ISLNK(status.st_mode):
        raise BadInput(f"{lock} is a symbolic link, and locks are not followed: remove it")
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise BadInput(f"{lock} is no lock, but a directory, a device or another name of some file: remove it")


def not_linked(folder: Path) -> Path:
    """A hidden directory of ours; raises if it is a symbolic link: nothing is written, read or removed behind one."""
    if folder.is_symlink():
        raise BadInput(f"{folder} is a symbolic link, and heedful's own directories are not followed: remove it")
    return folder


def open_log(path: Path, mode: int = 0o666) -> IO[bytes]:
    """A file to add to, made with these permissions (less the umask's) if it is not there; a link is refused."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise BadInput(f"{path} is a link or no regular file, and logs are added to no other: remove it")
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, mode), "ab")


def remove_temporaries(folder: Path) -> None:
    """Remove the temporary files that killed processes left in `folder` and below."""
    for path in folder.rglob(f".*{ENDING}"):
        if not path.is_dir():
            remove_leftover(path)


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
        self.folder = not_linked(path.with_name(f".{path.name}.parts"))
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
        return pl.read_parquet(self._part(index), glob=False)

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
    if path.is_symlink():  # somebody else's
        return False
    try:
        pl.read_parquet_schema(path)
    except (FileNotFoundError, pl.exceptions.PolarsError):  # a damaged part is written again
        return False
    return True
