"""Bounds on what a file may hold: compressed a thousandfold, a small one would fill any memory or disk.

A line, a row of a table and a text within an archive have at most 16 MB. A compressed file unpacks to at most 64 MB or,
if that is more, a hundred times its size, and to no more than 32 GB. Texts are compressed three to twenty times.
"""

import os
from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any, cast

from heedful.errors import BadConfig, BadInput

MB, GB = 1 << 20, 1 << 30
LONGEST = 16 * MB  # bytes of a line, a row or a text
SMALL = 64 * MB  # bytes that any file may unpack to
RATIO = 100  # to its size, of a file that unpacks to more
MOST = 32 * GB
LONGEST_VARIABLE = "HEEDFUL_LONGEST_MB"
UNPACKED_VARIABLE = "HEEDFUL_UNPACKED_GB"

_BUFFER = 1 << 17  # bytes


class Budget:
    """How much a file may still unpack to."""

    def __init__(self, path: Path) -> None:
        self._path, self._size = path, path.stat().st_size
        self._limit = _set(UNPACKED_VARIABLE, GB) or max(SMALL, min(RATIO * self._size, MOST))
        self._taken = 0

    def take(self, count: int) -> None:
        """Note that so many bytes came out; BadInput if that is too much."""
        self._taken += count
        if self._taken > self._limit:
            raise BadInput(
                f"{self._path}: its {self._size / MB:.1f} MB unpack to more than {self._limit / MB:,.0f} MB, as no "
                f"texts do. If you trust the file, set {UNPACKED_VARIABLE} to the GB that it may unpack to"
            )


def bounded(file: IO[bytes], budget: Budget) -> IO[bytes]:
    """A decompressed file, whose bytes are counted as they are read; closing it closes `file`."""
    return cast("IO[bytes]", BufferedReader(_Counted(file, budget), _BUFFER))


def bounded_lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    """The lines of a file, with their ends; BadInput if one is too long. `name` is the file's, for the message."""
    most, number = longest(), 0
    while line := file.readline(most + 1):
        number += 1
        if len(line) > most:
            raise too_long(f"{name}, line {number}", most)
        yield line


def bounded_content(file: IO[bytes], name: str) -> bytes:
    """All of a small file; BadInput if it is too long."""
    most, content = longest(), bytearray()
    while piece := file.read(_BUFFER):  # all at once would set aside room for the most there may be
        content += piece
        if len(content) > most:
            raise too_long(name, most)
    return bytes(content)


def longest() -> int:
    """The most bytes of a line, a row or a text."""
    return _set(LONGEST_VARIABLE, MB) or LONGEST


def too_long(where: str, most: int) -> BadInput:
    """The error for a line, a row or a text of more than `most` bytes."""
    return BadInput(
        f"{where}: longer than {most / MB:g} MB; is a line break or a quote missing? If it is right as it is, set "
        f"{LONGEST_VARIABLE} to the MB that a line or a row may have"
    )


class _Counted(RawIOBase):
    def __init__(self, file: IO[bytes], budget: Budget) -> None:
        self._file, self._budget = file, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._file.read(len(buffer))
        self._budget.take(len(content))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._file.close()
        super().close()


def _set(variable: str, unit: int) -> int | None:
    """What a user set, in bytes; None: nothing."""
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise BadConfig(f"{variable}={text}: give a number above 0, or leave it unset")
    return int(value * unit)
