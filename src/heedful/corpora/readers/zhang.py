"""`yahoo`, `amazon`, `yelp`: CSV files of Zhang, Zhao & LeCun 2015: class number, then one or more texts, no header.

A tenth of train is drawn for dev. As in Serrano & Smith 2019, texts of very many or very long sentences are left out,
though not of test.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import polars as pl

from heedful.corpora.corpus import Document
from heedful.corpora.locating import Found, below
from heedful.corpora.sentence_reader import SentenceOptions, SentenceReader
from heedful.corpora.splitting import hold_out
from heedful.corpora.tabular import csv_rows
from heedful.errors import BadInput

SEED = 0  # the paper's is unknown

_FILES = {"train": "train.csv", "test": "test.csv"}


class Zhang(SentenceReader):
    """A corpus in these files."""

    names: ClassVar[Sequence[str]]  # of classes 1, 2, ...
    columns: ClassVar[Sequence[str]]  # after the class; joined by spaces they are the text
    most_sentences: ClassVar[int]
    most_tokens: ClassVar[int]  # of the longest sentence
    limited: ClassVar[Sequence[str]] = ("train",)  # the splits these limits apply to

    def clean(self, text: str) -> str:
        r"""Without line breaks, which are written as `\n`."""
        return text.replace("\\n", " ")

    def answers(self, training: pl.LazyFrame) -> Iterable[str]:
        there = set(training.select(pl.col("label").unique()).collect()["label"])
        return [name for name in self.names if name in there]

    def documents(self, found: Found, options: SentenceOptions) -> Iterator[Document]:
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

    def split(self, table: pl.DataFrame, options: SentenceOptions) -> pl.Series:
        table = hold_out(table, among="train", into="dev", share=0.1, seed=SEED)
        fits = (pl.col("sentences") <= self.most_sentences) & (pl.col("longest") <= self.most_tokens)
        return table.select(pl.when(fits | ~pl.col("split").is_in(self.limited)).then(pl.col("split")))["split"]


class Amazon(Zhang):
    """Reviews of products."""

    name = "amazon"
    task = "stars of a review of a product"
    sizes = "3,000,000 / 650,000 reviews"
    how_to_get = "put Zhang et al.'s folder amazon_review_full_csv, with train.csv and test.csv, below the data folder"
    layouts = below(["amazon_review_full_csv", "amazon_review_csv", "amazon/amazon_review_full_csv", "amazon"], _FILES)
    names = ("1", "2", "3", "4", "5")
    columns = ("title", "text")
    most_sentences = 15
    most_tokens = 130


class Yahoo(Zhang):
    """Questions and answers."""

    name = "yahoo"
    task = "topic of a question with its best answer"
    sizes = "1,400,000 / 60,000 questions of 10 topics"
    how_to_get = "put Zhang et al.'s folder yahoo_answers_csv, with train.csv and test.csv, below the data folder"
    layouts = below(["yahoo_answers_csv", "yahoo/yahoo_answers_csv", "yahoo"], _FILES)
    topics = (
        "Society & Culture, Science & Mathematics, Health, Education & Reference, Computers & Internet, Sports, "
        "Business & Finance, Entertainment & Music, Family & Relationships, Politics & Government"
    )
    names = tuple(topics.split(", "))
    columns = ("question title", "question content", "best answer")
    most_sentences = 50
    most_tokens = 350
    limited = ("train", "dev")


class Yelp(Zhang):
    """Reviews of businesses."""

    name = "yelp"
    task = "stars of a review of a business"
    sizes = "650,000 / 50,000 reviews"
    how_to_get = "put Zhang et al.'s folder yelp_review_full_csv, with train.csv and test.csv, below the data folder"
    layouts = below(["yelp_review_full_csv", "yelp/yelp_review_full_csv", "yelp"], _FILES)
    names = ("1", "2", "3", "4", "5")
    columns = ("text",)
    most_sentences = 43
    most_tokens = 200
