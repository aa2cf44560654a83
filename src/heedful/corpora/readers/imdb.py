"""The objects of a JSON file one by one, be it one array of them or JSON lines: it may be larger than memory."""

import json
import re
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

import polars as pl

from heedful.corpora.archives import damage_named, decode, members, open_bytes
from heedful.corpora.corpus import Document
from heedful.corpora.locating import Found, below, find_layout
from heedful.corpora.reader import Options, Reader
from heedful.corpora.readers.zhang import Sentenced, SentencedOptions
from heedful.corpora.splitting import hold_out, in_order_of, within_lengths
from heedful.corpora.tabular import class_name
from heedful.errors import BadInput
from heedful.printable import plain_text
from heedful.text.tokenising import keras_tokens, tokeniser

MOST_WORDS = 400
SEED = 1378
LINE_BREAK = re.compile(r"<br\s*/?>")

_SIDES = {"neg": "negative", "pos": "positive"}
_FOLDERS = [f"{split}/{side}" for split in ("train", "test") for side in _SIDES]
_LAYOUTS = [
    *below(["imdb/aclImdb", "aclImdb", "imdb", ""], {folder: folder for folder in _FOLDERS}),
    *below(["imdb", ""], {"archive": "aclImdb_v1.tar.gz"}),
    *below(["imdb", ""], {"archive": "aclImdb_labelled.tar.gz"}),
    *below(["imdb", ""], {"archive": "aclImdb_v1.tar"}),
]


class IMDB(Reader):
    """Film reviews."""

    name = "imdb"
    task = "sentiment of a film review"
    sizes = "25,000 / 25,000 reviews; 17,212 / 4,304 / 4,347 used"
    how_to_get = "`heedful corpora get imdb` downloads it"
    downloadable = True
    layouts = _LAYOUTS

    def classes(self, options: Options) -> tuple[str, ...]:
        """Bad, then good."""
        return tuple(_SIDES.values())

    def documents(self, found: Found, options: Options) -> Iterator[Document]:
        """Every review of fewer than 400 words."""
        for name, where, content in reviews(found):
            text = decode(content, where)
            if len(keras_tokens(text)) < MOST_WORDS:
                split, side, stem = name.parts[-3], name.parts[-2], name.stem
                yield Document(f"{split}-{side}-{stem}", self.tokenise(text, options), _SIDES[side], split)

    def tokenise(self, text: str, options: Options) -> list[str]:
        """Without line breaks; the released code has Keras' tokens, in which they are words."""
        return tokeniser()(LINE_BREAK.sub(" ", text)) if options.cleaning == "paper" else keras_tokens(text)

    def split(self, table: pl.DataFrame, options: Options) -> pl.Series:
        """A fifth of train for dev; of test, a fifth only; more than 6 tokens."""
        ordered = table.sort("id")
        ordered = hold_out(ordered, among="train", into="dev", share=0.2, seed=SEED)
        ordered = hold_out(ordered, among="test", into="used", share=0.2, seed=SEED)
        ordered = ordered.with_columns(
            pl.col("split").replace_strict({"test": None, "used": "test"}, default=pl.col("split"))
        )
        return in_order_of(table, within_lengths(ordered, above=6))


def reviews(found: Found) -> Iterator[tuple[PurePosixPath, str, bytes]]:
    """Name (split, side and file), place and content of every labelled review."""
    if "archive" in found.files:
        archive = found.files["archive"]
        for name, content in members(archive, _is_review):
            yield name, f"{archive}, {name}", content
        return
    for folder, path in found.files.items():
        for name, content in members(path, lambda name: name.suffix == ".txt"):
            yield folder / name, str(path / name), content


def _is_review(name: PurePosixPath) -> bool:
    return name.suffix == ".txt" and "/".join(name.parts[-3:-1]) in _FOLDERS


LARGEST = 1 << 24  # characters of an object; a longer one is taken for damage
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
    """A part of a file, a place in it up to which it is used up, and the line and column of that place."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self._path, self._file = path, file
        self._text, self._at = "", 0
        self._line, self._column = 1, 1

    def where(self, ahead: int = 0) -> str:
        """The place of a character."""
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
        """Pass over characters."""
        self._line, self._column = self._place(count)
        self._at += count

    def value(self) -> Any:
        """The next value, used up."""
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


RATINGS_SEED = 0  # that of the paper is not known

_RATINGS_FOLDERS = ["imdb-ratings", "imdb_ratings"]
_STARS = [str(stars) for stars in range(1, 11)]


class IMDBRatings(Sentenced):
    """Film reviews with stars."""

    name = "imdb-ratings"
    task = "stars of a film review"
    sizes = "13,493 test reviews of several sentences in the paper; 50,000 reviews of aclImdb in all"
    how_to_get = (
        "put the reviews of Diao et al. 2014 below the data folder as imdb-ratings/data.json (objects with rating and "
        "review); `heedful corpora get imdb` downloads others that may stand in for them, with --subset"
    )
    layouts = (*below(_RATINGS_FOLDERS, {"reviews": "data.json"}), *below(_RATINGS_FOLDERS, {"reviews": "data.jsonl"}))

    def find(self, roots: Sequence[Path], options: SentencedOptions, *, subset: bool) -> Found | None:
        """The paper's reviews or, if a subset will do, those of `imdb`."""
        found = find_layout(roots, self.layouts, subset=subset)
        if found is None and subset:
            other = find_layout(roots, IMDB.layouts, subset=True)
            return None if other is None else Found(other.files, subset=True)
        return found

    def clean(self, text: str) -> str:
        """HTML line breaks are white space."""
        return LINE_BREAK.sub(" ", text)

    def documents(self, found: Found, options: SentencedOptions) -> Iterator[Document]:
        """Every review with stars."""
        for name, stars, text in _rated(found):
            yield self.document(text, options, id=name, label=stars, split="train")

    def split(self, table: pl.DataFrame, options: SentencedOptions) -> pl.Series:
        """A tenth for test, as many for dev."""
        ordered = table.sort("id")
        for into, share in (("test", 1 / 10), ("dev", 1 / 9)):
            ordered = hold_out(ordered, among="train", into=into, share=share, seed=RATINGS_SEED)
        return in_order_of(table, ordered)


def _rated(found: Found) -> Iterator[tuple[str, str, str]]:
    """Name, stars and text of every review."""
    if "reviews" not in found.files:
        for name, where, content in reviews(found):
            stars = name.stem.partition("_")[2]
            yield "-".join([*name.parts[-3:-1], name.stem]), _checked(stars, where), decode(content, where)
        return
    for number, (where, row) in enumerate(json_objects(found.files["reviews"]), start=1):
        for key in ("rating", "review"):
            if key not in row:
                raise BadInput(f"{where}: the object has no '{key}'; it has: {', '.join(row) or 'nothing'}")
        if row["rating"] is None:
            continue
        if not isinstance(row["review"], str):
            raise BadInput(f"{where}: 'review' holds {str(row['review'])[:40]}, which is no text")
        stars = _checked(class_name(row["rating"], where, "rating"), where)
        yield f"review-{number:07d}", stars, plain_text(row["review"], f"{where}, 'review'")


def _checked(stars: str, where: str) -> str:
    if stars not in _STARS:
        raise BadInput(f"{where}: '{stars[:40]}' should be stars from 1 to 10")
    return stars
