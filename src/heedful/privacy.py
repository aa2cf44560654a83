"""Files that only their owner can read (0600, directories 0700), for texts that must not be passed on.

What is made from such texts is as private as they are: a directory that only its owner can enter marks itself.
"""

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_OTHERS = 0o077  # permissions of everybody but the owner
_lock = threading.Lock()
_inside = 0  # blocks that want privacy now, in all threads: the umask is the whole process's
_umask = 0  # before the first of them


@contextmanager
def owner_only(wanted: bool) -> Iterator[None]:
    """Whatever this process, and those that it starts, create during the block can be read by its owner only."""
    if not wanted:
        yield
        return
    _enter()
    try:
        yield
    finally:
        _leave()


def is_private(folder: Path) -> bool:
    """Whether nobody but its owner may enter a directory; never on Windows, which has no such permissions."""
    try:
        return sys.platform != "win32" and not stat.S_IMODE(folder.stat().st_mode) & _OTHERS
    except FileNotFoundError:
        return False


def make_private(path: Path) -> None:
    """Take the permissions of others from a file or directory that is there already, if it is ours."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        with suppress(PermissionError):
            path.chmod(mode & ~_OTHERS)


def _enter() -> None:
    global _inside, _umask  # noqa: PLW0603  # as the umask is
    with _lock:
        before = os.umask(_OTHERS)
        if not _inside:
            _umask = before
        _inside += 1


def _leave() -> None:
    global _inside  # noqa: PLW0603
    with _lock:
        _inside -= 1
        if not _inside:
            os.umask(_umask)
