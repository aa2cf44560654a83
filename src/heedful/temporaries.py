"""Temporary files and folders: nobody can guess their names, no link is followed, and leftovers are removed.

A writer locks what it writes, and the system releases the lock when the process ends, however it ends: what can be
locked by somebody else is left over. Where there are no such locks, what has not changed for an hour is.
"""

import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ENDING = ".tmp"
STALE = 3600  # seconds without a change after which something is left over, where there are no locks

_CLOSED = -1
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# of this version, and of earlier ones, which used process numbers and fixed names
_OWN = re.compile(r"(?:[\w-]{8}(?:\.old)?|\d+|new|old)\.tmp")


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """A new, empty file beside `path`, to be written and renamed; removed at the end if it is still there."""
    remove_leftovers(path.parent, path.name)
    descriptor = _CLOSED
    while descriptor == _CLOSED:
        temporary = hidden_name(path)
        with suppress(FileExistsError):
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFE, 0o666)
            if fcntl is None:  # an open file could not be renamed
                os.close(descriptor)
                break
            descriptor = _held(descriptor, temporary)
    try:
        yield temporary
    finally:
        remove(temporary)
        if fcntl is not None:
            os.close(descriptor)


@contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """A new, empty folder beside `path`, to be filled and renamed; removed at the end if it is still there."""
    remove_leftovers(path.parent, path.name)
    descriptor = _CLOSED
    while descriptor == _CLOSED:
        temporary = hidden_name(path)
        with suppress(FileExistsError):
            temporary.mkdir()
            if fcntl is None:  # folders cannot be opened
                break
            with suppress(FileNotFoundError):  # taken for a leftover
                descriptor = _held(_open(temporary), temporary)
    try:
        yield temporary
    finally:
        remove(temporary)
        if fcntl is not None:
            os.close(descriptor)


def hidden_name(path: Path, ending: str = ENDING) -> Path:
    """A hidden name beside `path` that nobody can guess."""
    return path.with_name(f".{path.name}.{secrets.token_urlsafe(6)}{ending}")


def hidden_names(path: Path) -> list[Path]:
    """The temporary files and folders beside `path` that were made for it, dead or alive; never a link."""
    start = f".{path.name}."
    with suppress(FileNotFoundError), os.scandir(path.parent) as entries:
        found = [each for each in entries if each.name.startswith(start) and _OWN.fullmatch(each.name, len(start))]
        return [Path(each.path) for each in found if not each.is_symlink()]
    return []


def remove_leftovers(folder: Path, name: str) -> None:
    """Remove the temporary files and folders for `name` in a folder whose writers have ended."""
    for path in hidden_names(folder / name):
        remove_leftover(path)


def remove_leftover(path: Path) -> None:
    """Remove a temporary file or folder, unless it is a link or somebody still writes it."""
    if fcntl is None:  # what is open could not be removed
        if _is_stale(path):
            remove(path)
        return
    try:
        descriptor = _open(path)
    except OSError:  # a link, gone, or somebody else's
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left = True
        except BlockingIOError:
            left = False
        except OSError:  # no locks in this file system
            left = _is_stale(path)
        if left:  # a writer that has just made it waits for the lock, and then finds it gone
            remove(path)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file or folder, as far as possible; of a symbolic link the link, not its target."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _open(path: Path) -> int:
    """Open a file or folder that is no link."""
    is_folder = stat.S_ISDIR(path.lstat().st_mode)
    return os.open(path, (os.O_RDONLY if is_folder else os.O_RDWR) | _SAFE)


def _held(descriptor: int, path: Path) -> int:
    """Lock what was just made; closed if somebody took it for a leftover before it was locked."""
    with suppress(OSError):  # no locks in this file system
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(descriptor), path.lstat()):
            return descriptor
    os.close(descriptor)
    return _CLOSED


def _is_stale(path: Path) -> bool:
    """Whether a file, or anything in a folder, has not changed for long; never if it is a link."""
    if path.is_symlink():
        return False
    try:
        newest = max(each.lstat().st_mtime for each in [path, *path.rglob("*")])
    except OSError:  # its owner has just finished
        return False
    return time.time() - newest > STALE
