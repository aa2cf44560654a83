"""The CSV files of Zhang, Zhao & LeCun 2015: the number of a class, then one text or several, no header.

They have no split for dev: a tenth of train is drawn. As in Serrano & Smith 2019, texts of very many or very long
sentences are left out, though not of test.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import polars as pl
from pydantic import Field

from heedful.corpora.corpus import Document
from heedful.corpora.locating import Found, Layout, below
from heedful.corpora.reader import Options, Reader
from heedful.corpora.splitting import hold_out
from heedful.corpora.tabular import csv_rows
from heedful.errors import BadInput
from heedful.text.sentences import SENTENCIZER, in_a_row, text_sentences
from heedful.text.tokenising import tokeniser


class SentencedOptions(Options):
    """How texts are cut into sentences."""

    sentences: str = Field(SENTENCIZER, min_length=1)  # or the name or folder of a spaCy model with a parser


class Sentenced(Reader):
    """A corpus of texts in sentences."""

    options = SentencedOptions

    def clean(self, text: str) -> str:
        """A native text without its markup."""
        return text

    def classes(self, options: SentencedOptions) -> None:
        """Those that occur in training: a part of a corpus need not have all."""
        return

    def tokenise(self, text: str, options: SentencedOptions) -> list[str]:
        """Lower case; numbers stay, as in the released code."""
        return tokeniser(numbers=True)(self.clean(text))

    def has_sentences(self, options: SentencedOptions) -> bool:
        """Always."""
        return True

    def sentences(self, text: str, options: SentencedOptions) -> list[list[str]]:
        """The same tokens."""
        return text_sentences(self.clean(text), options.sentences)

    def document(self, text: str, options: SentencedOptions, **fields: Any) -> Document:
        """A native text as a document."""
        tokens, lengths = in_a_row(self.sentences(text, options))
        return Document(tokens=tokens, sentences=lengths, **fields)


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


class Amazon(Zhang):
    """Reviews of products."""

    name = "amazon"
    task = "stars of a review of a product"
    sizes = "3,000,000 / 650,000 reviews"
    how_to_get = "put Zhang et al.'s folder amazon_review_full_csv, with train.csv and test.csv, below the data folder"
    layouts = csv_layouts(["amazon_review_full_csv", "amazon_review_csv", "amazon/amazon_review_full_csv", "amazon"])
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
    layouts = csv_layouts(["yahoo_answers_csv", "yahoo/yahoo_answers_csv", "yahoo"])
    names = (
        "Society & Culture",
        "Science & Mathematics",
        "Health",
        "Education & Reference",
        "Computers & Internet",
        "Sports",
        "Business & Finance",
        "Entertainment & Music",
        "Family & Relationships",
        "Politics & Government",
    )
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
    layouts = csv_layouts(["yelp_review_full_csv", "yelp/yelp_review_full_csv", "yelp"])
    names = ("1", "2", "3", "4", "5")
    columns = ("text",)
    most_sentences = 43
    most_tokens = 200
