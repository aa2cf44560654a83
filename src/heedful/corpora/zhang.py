"""The CSV files of Zhang, Zhao & LeCun 2015: the number of a class, then one text or several, no header.

They have no split for dev: a tenth of train is drawn. As in Serrano & Smith 2019, texts of very many or very long
sentences are left out, though not of test.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import polars as pl

from heedful.corpora.corpus import Document
from heedful.corpora.finding import Found, Layout, below
from heedful.corpora.rows import csv_rows
from heedful.corpora.sentenced import Sentenced, SentencedOptions
from heedful.corpora.splitting import hold_out
from heedful.errors import BadInput

SEED = 0  # that of the paper is not known


def csv_layouts(folders: Sequence[str]) -> list[Layout]:
    """Both files in one of several folders."""
    return below(folders, {"train": "train.csv", "test": "test.csv"})


class Zhang(Sentenced):
    """A corpus in these files."""

    names: ClassVar[Sequence[str]]  # of the classes, in the order of their numbers
    columns: ClassVar[Sequence[str]]  # what follows the class; joined by spaces it is the text
    most_sentences: ClassVar[int]
    most_tokens: ClassVar[int]  # of the longest sentence
    limited: ClassVar[Sequence[str]] = ("train",)  # the splits that have these limits

    def clean(self, text: str) -> str:
        r"""Line breaks are written as `\n`."""
        return text.replace("\\n", " ")

    def answers(self, training: pl.LazyFrame) -> Iterable[str]:
        """In the order of their numbers."""
        there = set(training.select(pl.col("label").unique()).collect()["label"])
        return [name for name in self.names if name in there]

    def documents(self, found: Found, options: SentencedOptions) -> Iterator[Document]:
        """Every row of both files."""
        classes = {str(number): name for number, name in enumerate(self.names, start=1)}
        for split, path in found.files.items():
            for number, (line, row) in enumerate(csv_rows(path), start=1):
                if len(row) != 1 + len(self.columns) or row[0] not in classes:
                    raise BadInput(
                        f"{path}, line {line}: should be class (1 to {len(classes)}), {', '.join(self.columns)}; "
                        f"found {str(row)[:80]}"
                    )
                text = " ".join(row[1:])
                yield self.document(text, options, id=f"{split}-{number:07d}", label=classes[row[0]], split=split)

    def split(self, table: pl.DataFrame, options: SentencedOptions) -> pl.Series:
        """A tenth of train for dev, then the limits."""
        table = hold_out(table, among="train", into="dev", share=0.1, seed=SEED)
        fits = (pl.col("sentences") <= self.most_sentences) & (pl.col("longest") <= self.most_tokens)
        return table.select(pl.when(fits | ~pl.col("split").is_in(self.limited)).then(pl.col("split")))["split"]
