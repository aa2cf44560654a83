"""How a text file of rows is written: its encoding, and what separates its fields. Both are told from the file."""

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from heedful.bounds import longest, too_long
from heedful.corpora.archives import damage_named, lines, open_bytes
from heedful.errors import BadConfig, BadInput

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_UTF8, _WINDOWS, _LATIN = "utf-8", "cp1252", "latin-1"
_MARKS = (  # the byte order marks; those of UTF-32 begin like those of UTF-16
    (codecs.BOM_UTF8, _UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_USUAL_DELIMITERS = {".csv": ",", ".tsv": "\t"}  # by kind of file; others have no fields
_NAMES = {_UTF8: "UTF-8", _WINDOWS: "Windows-1252", _LATIN: "Latin-1"}
_NOT_WINDOWS = frozenset(b"\x81\x8d\x8f\x90\x9d")  # bytes without a meaning in Windows-1252
_PIECE = 1 << 20  # bytes in memory at a time
_SAMPLE_ROWS = 100
_SAMPLE_CHARACTERS = 1 << 18


@dataclass(frozen=True)
class TextFormat:
    """Encoding and delimiter of a file (none: it has no fields), and whether they are as its name says."""

    encoding: str = _UTF8
    delimiter: str | None = None
    usual: bool = True

    def __str__(self) -> str:
        encoding = _NAMES.get(self.encoding, self.encoding.upper())
        if self.delimiter is None:
            return f"text is {encoding}"
        separated = DELIMITERS.get(self.delimiter, f"'{self.delimiter}'")
        return f"text is {encoding}, fields are separated by {separated}"


def text_format(path: Path, *, delimiter: str | None = None, encoding: str | None = None) -> TextFormat:
    """The format of a CSV, TSV or JSON lines file, plain or .gz; a given delimiter or encoding is taken as it is."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise BadConfig(f"delimiter {delimiter!r}: give one character, such as ';'")
    with damage_named(path):
        stat = path.stat()
    return _format(path, stat.st_size, stat.st_mtime_ns, delimiter, encoding)


@lru_cache(maxsize=64)
def _format(path: Path, size: int, changed: int, delimiter: str | None, encoding: str | None) -> TextFormat:
    """Remembered for as long as the file stays as it is: to tell the encoding takes a pass over the file."""
    found = _known(encoding) if encoding is not None else _guessed_encoding(path)
    expected = encoding is not None or found == _UTF8
    usual = _USUAL_DELIMITERS.get(kind_of(path))
    if usual is None:
        return TextFormat(found, None, expected)
    separated = delimiter or _guessed_delimiter(path, found, usual)
    return TextFormat(found, separated, expected and (delimiter is not None or separated == usual))


def kind_of(path: Path) -> str:
    """The ending of a file's name, without .gz."""
    return (path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix).lower()


def text_lines(path: Path, encoding: str = _UTF8) -> Iterator[tuple[int, str]]:
    """The lines of a text file, plain or .gz, with their numbers; line ends are kept, a byte order mark is not."""
    if encoding == _UTF8:
        yield from lines(path)
        return
    number, most = 0, longest()
    with damage_named(path), open_bytes(path) as raw, io.TextIOWrapper(raw, encoding, newline="\n") as file:
        try:
            while line := file.readline(most + 1):
                number += 1
                if len(line) > most:
                    raise too_long(f"{path}, line {number}", most)
                yield number, line.removeprefix("\ufeff") if number == 1 else line
        except UnicodeError as error:
            raise BadInput(
                f"{path}, after line {number}: not text in {encoding} ({error}); name its encoding, or save it as UTF-8"
            ) from error


def _guessed_encoding(path: Path) -> str:
    """The encoding of a file: by its byte order mark; UTF-8 if it is that, or all but some damaged bytes of it;
    UTF-16 by its zero bytes; else that of Windows in Western Europe, or Latin-1."""
    with damage_named(path), open_bytes(path) as file:
        piece = file.read(_PIECE)
        for mark, name in _MARKS:
            if piece.startswith(mark):
                return name
        if (wide := _wide(piece)) is not None:
            return wide
        decoder = codecs.getincrementaldecoder(_UTF8)("surrogateescape")  # bytes that are wrong become U+DCxx
        right, seen = 0, Counter[int]()
        while piece:
            if not piece.isascii():
                strange = [letter for letter in decoder.decode(piece) if letter > "\x7f"]
                wrong = [ord(letter) - 0xDC00 for letter in strange if "\udc80" <= letter <= "\udcff"]
                right += len(strange) - len(wrong)
                seen.update(wrong)
            piece = file.read(_PIECE)
    if right >= seen.total():
        return _UTF8
    return _LATIN if seen.keys() & _NOT_WINDOWS else _WINDOWS


def _wide(piece: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of Western text is zero."""
    sample = piece[:4096]
    halves = {"utf-16-le": sample[1::2], "utf-16-be": sample[::2]}
    for name, half in halves.items():
        if len(half) > 1 and half.count(0) > 0.4 * len(half) and sample.count(0) < 1.2 * half.count(0):
            return name
    return None


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise BadConfig(f"encoding '{encoding}' is unknown; valid: utf-8, utf-16, cp1252, latin-1, ...") from None


def _guessed_delimiter(path: Path, encoding: str, usual: str) -> str:
    """The delimiter that gives the header several fields and most rows as many: the usual one if it does as well."""
    sample = list(_sample(path, encoding))

    def merit(delimiter: str) -> tuple[bool, float, bool, int]:
        widths = list(_widths(sample, delimiter))
        fields = widths[0] if widths else 0
        return fields > 1, widths.count(fields) / max(1, len(widths)), delimiter == usual, fields

    best = max(DELIMITERS, key=merit)
    return best if merit(best)[0] else usual


def _sample(path: Path, encoding: str) -> Iterator[str]:
    characters = 0
    for number, line in text_lines(path, encoding):
        characters += len(line)
        if number > _SAMPLE_ROWS or characters > _SAMPLE_CHARACTERS:
            return
        yield line


def _widths(sample: list[str], delimiter: str) -> Iterator[int]:
    """How many fields each row has, up to the first that cannot be read."""
    rows = csv.reader(sample, delimiter=delimiter, strict=True)
    try:
        yield from (len(row) for row in rows if row)
    except csv.Error:  # a damaged row, or the last one, which the sample cuts
        return
