"""`imdb`: film reviews, positive or negative (Maas et al. 2011).

Reviews of fewer than 400 words, as Keras counts them, and more than 6 tokens. A fifth of train is for dev, and a fifth
of test is used (seed 1378).
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import polars as pl

from heedful.corpora.archives import decode
from heedful.corpora.corpus import Document
from heedful.corpora.locating import Found, below, folder_files
from heedful.corpora.reader import Options, Published, Reader, Source
from heedful.corpora.splitting import hold_out, in_order_of, within_lengths
from heedful.text.tokenising import keras_tokens, tokeniser

MOST_WORDS = 400
SEED = 1378
LINE_BREAK = re.compile(r"<br\s*/?>")

_SIDES = {"neg": "negative", "pos": "positive"}
_ARCHIVE = {"archive": "aclImdb_v1.tar.gz"}
_FOLDERS = [f"{split}/{side}" for split in ("train", "test") for side in _SIDES]


class IMDB(Reader):
    """Film reviews."""

    name = "imdb"
    task = "sentiment of a film review"
    sizes = "25,000 / 25,000 reviews; 17,212 / 4,304 / 4,347 used"
    how_to_get = "`heedful corpora get imdb` downloads it"
    source = Source(
        "https://ai.stanford.edu/~amaas/data/sentiment",
        "imdb",
        _ARCHIVE,
        {"train": 25000, "test": 25000},
        {  # tensorflow/datasets, commit 90b6623, tensorflow_datasets/datasets/imdb_reviews/checksums.tsv
            "archive": Published(
                "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe", 84125825, "TensorFlow Datasets"
            )
        },
    )
    layouts = (
        *below(["imdb/aclImdb", "aclImdb", "imdb", ""], {folder: folder for folder in _FOLDERS}),
        *below(["imdb", ""], _ARCHIVE),
        *below(["imdb", ""], {"archive": "aclImdb_labelled.tar.gz"}),
        *below(["imdb", ""], {"archive": "aclImdb_v1.tar"}),
    )
    class_names = tuple(_SIDES.values())

    def native_splits(self, found: Found) -> Iterator[str]:
        return (name.parts[-3] for name, *_ in reviews(found))

    def documents(self, found: Found, options: Options) -> Iterator[Document]:
        for name, where, content in reviews(found):
            text = decode(content, where)
            if len(keras_tokens(text)) < MOST_WORDS:
                split, side, stem = name.parts[-3], name.parts[-2], name.stem
                yield Document(f"{split}-{side}-{stem}", self.tokenise(text, options), _SIDES[side], split)

    def tokenise(self, text: str, options: Options) -> list[str]:
        """Without line breaks; the released code has Keras' tokens, in which they are words."""
        return tokeniser()(LINE_BREAK.sub(" ", text)) if options.cleaning == "paper" else keras_tokens(text)

    def split(self, table: pl.DataFrame, options: Options) -> pl.Series:
        ordered = table.sort("id")
        ordered = hold_out(ordered, among="train", into="dev", share=0.2, seed=SEED)
        ordered = hold_out(ordered, among="test", into="used", share=0.2, seed=SEED)
        used = pl.col("split").replace_strict({"test": None, "used": "test"}, default=pl.col("split"))
        return in_order_of(table, within_lengths(ordered.with_columns(used), above=6))


def reviews(found: Found) -> Iterator[tuple[PurePosixPath, str, bytes]]:
    """Name (split, side and file), place and content of every labelled review."""
    return folder_files(found, _FOLDERS, ".txt")
