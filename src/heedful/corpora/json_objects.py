"""The objects of a JSON file, an array of them or JSON lines, one by one: the file may be larger than memory.

By hand rather than with ijson 3.6, which is faster (0.10 s against 0.25 s for 50 MB) but gives no line and column,
refuses NaN, crashes the interpreter on a number of 5,000 digits and takes all memory for 100,000 opening brackets:
`test_places` and `test_damage_is_placed` ask for better.
"""

import json
import re
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from heedful.bounds import LONGEST
from heedful.corpora.archives import damage_named, open_bytes
from heedful.errors import BadInput

LARGEST = LONGEST  # characters of an object; a longer one is taken for damage
CHUNK = 1 << 20  # characters read at a time

_CHARACTER = re.compile(r"[^ \t\r\n]")
_DECODER = json.JSONDecoder()


def json_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object of a UTF-8 file, plain or .gz, with its place: file, line and column."""
    with damage_named(path), TextIOWrapper(open_bytes(path), encoding="utf-8-sig") as file:
        text = _Text(path, file)
        yield from _array(text) if text.next() == "[" else _lines(text)


def _lines(text: "_Text") -> Iterator[tuple[str, dict[str, Any]]]:
    while text.next():
        yield _object(text)


def _array(text: "_Text") -> Iterator[tuple[str, dict[str, Any]]]:
    text.drop(1)
    if text.next() != "]":
        yield _object(text)
    while text.next() == ",":
        text.drop(1)
        yield _object(text)
    if text.next() != "]":
        raise BadInput(f"{text.where()}: not JSON (',' or ']' should follow an object); was the file cut short?")
    text.drop(1)
    if text.next():
        raise BadInput(f"{text.where()}: not JSON (something follows the end of the array)")


def _object(text: "_Text") -> tuple[str, dict[str, Any]]:
    text.next()
    where, value = text.where(), text.value()
    if not isinstance(value, dict):
        raise BadInput(f'{where}: holds {str(value)[:40]}, which is no object such as {{"text": ...}}')
    return where, value


class _Text:
    """The part of a file in memory, and how far it is consumed, also as line and column."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self._path, self._file = path, file
        self._text, self._at = "", 0
        self._line, self._column = 1, 1

    def where(self, ahead: int = 0) -> str:
        """The place of the character so far ahead."""
        line, column = self._place(ahead)
        return f"{self._path}, line {line}, column {column}"

    def next(self) -> str:
        """The next character that is not white space; "" at the end."""
        while True:
            found = _CHARACTER.search(self._text, self._at)
            self.drop((found.start() if found else len(self._text)) - self._at)
            if self._at < len(self._text) or not self._more(CHUNK):
                return self._text[self._at : self._at + 1]

    def drop(self, count: int) -> None:
        """Consume characters."""
        self._line, self._column = self._place(count)
        self._at += count

    def value(self) -> Any:
        """The next value, consumed."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise BadInput(f"{self.where()}: nested too deeply") from error
            except ValueError as error:
                # it may only be incomplete: reading as much again each time keeps the number of trials small
                rest = len(self._text) - self._at
                if rest < LARGEST and self._more(max(CHUNK, rest)):
                    continue
                raise self._damage(error) from error
            self.drop(end - self._at)
            return value

    def _damage(self, error: ValueError) -> BadInput:
        ahead, problem = 0, str(error)  # a number of thousands of digits
        if isinstance(error, json.JSONDecodeError):
            ahead, problem = error.pos - self._at, error.msg
        return BadInput(
            f"{self.where(ahead)}: not JSON ({problem}), in what begins at {self.where()}; mend it, or get the file "
            "again if it was cut short"
        )

    def _more(self, size: int) -> bool:
        try:
            read = self._file.read(size)
        except UnicodeDecodeError as error:
            raise BadInput(
                f"{self.where()}, or after it: byte {error.object[error.start]:#04x} is not UTF-8 text; save the file "
                "as UTF-8 (iconv -t UTF-8 does it)"
            ) from error
        if read:
            self._text, self._at = self._text[self._at :] + read, 0
        return bool(read)

    def _place(self, ahead: int) -> tuple[int, int]:
        start, end = self._at, self._at + ahead
        breaks = self._text.count("\n", start, end)
        column = end - self._text.rfind("\n", start, end) if breaks else self._column + ahead
        return self._line + breaks, column
