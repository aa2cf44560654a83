"""`agnews`: AG's news, world or business (corpus by A. Gulli; Zhang, Zhao & LeCun 2015).

As in the released code, only the description is read, not the title; 15 % of train is for dev (seed 16377).
"""

from collections.abc import Iterator

import polars as pl

from heedful.corpora.corpus import Document
from heedful.corpora.locating import Found, below
from heedful.corpora.reader import Options, Published, Reader, Source
from heedful.corpora.splitting import hold_out
from heedful.corpora.tabular import csv_rows
from heedful.errors import BadInput

SEED = 16377

_CLASSES = {"1": "world", "3": "business"}
_OTHERS = {"2", "4"}  # sports, science and technology
_FILES = {"train": "train.csv", "test": "test.csv"}


class AGNews(Reader):
    """Short news items."""

    name = "agnews"
    task = "world or business: the desk of a news item"
    sizes = "60,000 / 3,800 items of the two classes; 51,000 / 9,000 / 3,800 used"
    how_to_get = "`heedful corpora get agnews` downloads it"
    source = Source(
        "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv",
        "ag_news_csv",
        _FILES,
        {"train": 120000, "test": 7600},
        {  # huggingface/datasets, commit 040102f, datasets/ag_news/dataset_infos.json
            "train": Published(
                "76a0a2d2f92b286371fe4d4044640910a04a803fdd2538e0f3f29a5c6f6b672e", 29470338, "Hugging Face"
            ),
            "test": Published(
                "521465c2428ed7f02f8d6db6ffdd4b5447c1c701962353eb2c40d548c3c85699", 1857427, "Hugging Face"
            ),
        },
    )
    layouts = below(["ag_news_csv", "agnews", "agnews/ag_news_csv"], _FILES)
    class_names = tuple(_CLASSES.values())

    def native_splits(self, found: Found) -> Iterator[str]:
        return (split for split, *_ in _items(found))

    def documents(self, found: Found, options: Options) -> Iterator[Document]:
        for split, number, label, description in _items(found):
            if label in _CLASSES:
                yield Document(f"{split}-{number:06d}", self.tokenise(description, options), _CLASSES[label], split)

    def split(self, table: pl.DataFrame, options: Options) -> pl.Series:
        return hold_out(table, among="train", into="dev", share=0.15, seed=SEED)["split"]


def _items(found: Found) -> Iterator[tuple[str, int, str, str]]:
    """Split, number, class and description of every item."""
    for split in ("train", "test"):
        path = found.files[split]
        for number, (line, row) in enumerate(csv_rows(path), start=1):
            if len(row) != 3 or row[0] not in _CLASSES.keys() | _OTHERS:
                raise BadInput(f"{path}, line {line}: should be class 1-4, title, description; found {str(row)[:80]}")
            yield split, number, row[0], row[2]
