"""What must hold of any corpus, once it is split."""

from collections.abc import Set

import polars as pl

from heedful.corpora.corpus import SPLITS
from heedful.errors import BadInput


def check_ids(table: pl.DataFrame, where: str) -> None:
    """Every instance has a name of its own."""
    repeated = table.filter(pl.col("id").is_duplicated())
    if len(repeated):
        raise BadInput(f"{where}: the id '{repeated['id'][0]}' occurs more than once; ids must be unique")


def check_queries(documents: pl.LazyFrame, where: str) -> None:
    """A question or hypothesis has a token at least."""
    if "query" in documents.collect_schema():
        empty = documents.filter(pl.col("query").list.len() == 0).select("id").head(1).collect()
        if len(empty):
            raise BadInput(
                f"{where}: the question of '{empty.item()}' has no tokens; remove the instance or fill it in"
            )


def check_sentences(documents: pl.LazyFrame, where: str) -> None:
    """Sentences have a token at least, and together they are the text."""
    if "sentences" in documents.collect_schema():
        length, total = pl.col("tokens").list.len(), pl.col("sentences").list.sum()
        wrong = documents.filter((total != length) | (pl.col("sentences").list.min() < 1))
        found = wrong.select("id", "sentences", length=length).head(1).collect()
        for name, sentences, tokens in found.iter_rows():
            raise BadInput(
                f"{where}: the sentences of '{name}' have {str(sentences)[:80]} tokens, and the text {tokens}; each "
                "must have one or more, and together those of the text"
            )


def check_labels(table: pl.DataFrame, where: str, *, known: Set[str], unseen: bool) -> None:
    """Every split has instances, two classes or more are `known`, and no split has others unless `unseen` allows it."""
    for name in SPLITS:
        labels = set(table.filter(pl.col("split") == name)["label"])
        if not labels:
            raise BadInput(f"{where}: no {name} instance is there, or none is left after cleaning and length filters")
        if len(known) < 2:
            raise BadInput(f"{where}: all training labels are '{labels.pop()}'; a classifier needs two classes or more")
        strange = sorted(labels - known)
        if strange and not unseen:
            raise BadInput(
                f"{where}: label '{strange[0]}' occurs in {name} but never in training; remove or relabel it"
            )
