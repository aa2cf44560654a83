"""`adr`: tweets that report an adverse drug reaction or not (Nikfarjam et al. 2015); may not be redistributed.

Read from a table of `id<TAB>Y|N<TAB>text` without a header, as collected from the authors' tweet ids, or from the
released code's CSV with the columns text, label and exp_split, whose text is already tokenised. Where a split is
missing it is drawn: a fifth for test, then 15 % of train for dev (seed 16377). Between 5 and 100 tokens, ends
excluded.
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from heedful.corpora.corpus import Document
from heedful.corpora.locating import Found, below
from heedful.corpora.reader import Options, Reader
from heedful.corpora.splitting import hold_out, within_lengths
from heedful.corpora.tabular import csv_rows, named_rows
from heedful.errors import BadInput
from heedful.text.tokenising import tokeniser

SEED = 16377

_REACTION = {"N": "no reaction", "0": "no reaction", "Y": "reaction", "1": "reaction"}


class ADR(Reader):
    """Tweets about medicines."""

    name = "adr"
    task = "does a tweet report an adverse drug reaction?"
    sizes = "16,385 / 4,123 tweets in the paper"
    how_to_get = (
        "collect the tweets by the ids its authors give out, write a table of id, Y or N, text (tabs, no header) and "
        "put it below the data folder as adr/adr.tsv"
    )
    layouts = (
        *below(["adr", "tweet", ""], {"csv": "adr_dataset.csv"}),
        *below(["adr", "tweet"], {"tsv": "adr.tsv"}),
        *below(["adr", "tweet"], {"tsv": "adr_tweets.txt"}),
        *below([""], {"tsv": "adr.tsv"}),
    )
    class_names = ("no reaction", "reaction")

    def documents(self, found: Found, options: Options) -> Iterator[Document]:
        return _from_csv(found.files["csv"]) if "csv" in found.files else _from_tsv(found.files["tsv"])

    def split(self, table: pl.DataFrame, options: Options) -> pl.Series:
        there = set(table["split"])
        if "test" not in there:
            table = hold_out(table, among="train", into="test", share=0.2, seed=SEED, stratified=True)
        if "dev" not in there:
            table = hold_out(table, among="train", into="dev", share=0.15, seed=SEED)
        return within_lengths(table, above=5, below=100)["split"]


def _from_tsv(path: Path) -> Iterator[Document]:
    tokenise = tokeniser()
    for line, row in csv_rows(path, delimiter="\t", quotes=False):
        if len(row) != 3 or row[1] not in ("Y", "N"):
            raise BadInput(f"{path}, line {line}: should be id, Y or N, text between tabs; found {str(row)[:80]}")
        yield Document(row[0], tokenise(row[2]), _REACTION[row[1]], "train")


def _from_csv(path: Path) -> Iterator[Document]:
    for number, (line, row) in enumerate(named_rows(path, ("text", "label", "exp_split")), start=1):
        text, label, split = row
        if label not in ("0", "1") or split not in ("train", "dev", "test"):
            raise BadInput(f"{path}, line {line}: label '{label}' should be 0 or 1, exp_split '{split}' train/dev/test")
        yield Document(f"tweet-{number}", text.split(), _REACTION[label], split)
