"""`imdb`: the Large Movie Review Dataset (Maas et al. 2011), positive or negative.

The papers used Keras' copy of it, and of that the reviews of fewer than 400 words. Words are counted as Keras does in
both presets, so that both take the same reviews, but for a few of about 6 tokens, the least number. Keras' filter, as
applied here, leaves slightly fewer reviews than the papers had (4,347 instead of 4,356 in test). HTML line breaks are
white space with spaCy's tokens, and the word `br` with Keras'.

A fifth of the training reviews is for dev, a fifth of the test reviews for test (seed 1378); Keras' order of reviews
is not known, so these are other fifths than the papers'.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import polars as pl

from heedful.corpora.archives import decode, members
from heedful.corpora.corpus import Document
from heedful.corpora.finding import Found, below
from heedful.corpora.reader import Options, Reader
from heedful.corpora.splitting import hold_out, in_order_of, within_lengths
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
