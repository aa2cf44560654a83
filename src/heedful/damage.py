"""Reading files that may be damaged: every way in which a library fails becomes an error that can be told in one line.

polars reads Parquet in Rust. What its code does not expect there is a panic: a BaseException in Python, and a report on
the standard error of the process, whatever Python has put in its place.
"""

import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TypeVar, cast

import polars as pl

from heedful.errors import BadInput, resource_limit

Item = TypeVar("Item")

_PANIC = b"\nthread '"  # how a panic's report begins

_diverting = threading.Lock()


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Inside the block a panic of polars is a PolarsError like others, and its report stays off standard error."""
    try:
        with _diverted():
            yield
    except pl.exceptions.PanicException as error:
        raise pl.exceptions.ComputeError(f"its content is not as Parquet has it: {first_line(error)}") from None


def guarded(items: Iterator[Item], guard: Callable[[], AbstractContextManager[object]]) -> Iterator[Item]:
    """The items, each taken inside a context of its own: what is done with them is outside."""
    ended = object()
    while True:
        with guard():
            item = next(items, ended)
        if item is ended:
            return
        yield cast(Item, item)


def first_line(error: BaseException) -> str:
    """The first line of what an error says, shortened; libraries add explanations and traces of their own."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def unreadable(path: Path, problem: str, error: Exception) -> BadInput:
    """The error for a file that could not be read: a limit of this system stopped it, or there is the `problem`."""
    limit = resource_limit(error)
    return BadInput(f"{path}{problem}" if limit is None else f"{path} could not be read: {limit}")


@contextmanager
def _diverted() -> Iterator[None]:
    """Keep what is written to the process's standard error until the end of the block, then pass it on, without the
    reports of panics. Another thread that is at it already diverts for both."""
    if not _diverting.acquire(blocking=False):
        yield
        return
    end = _begin()
    try:
        yield
    finally:
        end()
        _diverting.release()


def _begin() -> Callable[[], None]:
    """Divert standard error to a file, if that is possible; returns what ends it."""
    try:
        _flush()
        if not stat.S_IFMT(os.fstat(2).st_mode):  # it was closed, and something inside the process has its number
            return lambda: None
        kept = os.dup(2)
    except OSError:  # there is none
        return lambda: None
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115
    except OSError:  # no room
        return lambda: os.close(kept)
    os.dup2(file.fileno(), 2)

    def end() -> None:
        _flush()
        os.dup2(kept, 2)
        with file:
            file.seek(0)
            said = file.read().partition(_PANIC)[0]
        with suppress(OSError):
            os.write(kept, said)
        os.close(kept)

    return end


def _flush() -> None:
    with suppress(OSError, ValueError, AttributeError):  # closed, or none
        sys.stderr.flush()
