"""What must hold of any corpus, once it is split."""

import polars as pl

from heedful.corpora.corpus import SPLITS
from heedful.errors import BadInput


def check_ids(table: pl.DataFrame, where: str) -> None:
    """Every instance has a name of its own."""
    repeated = table.filter(pl.col("id").is_duplicated())
    if len(repeated):
        raise BadInput(f"{where}: the id '{repeated['id'][0]}' occurs more than once; ids must be unique")


def check_labels(table: pl.DataFrame, where: str) -> None:
    """Every split has instances, training has two classes or more, and no other split has a class it lacks."""
    known = set(table.filter(pl.col("split") == "train")["label"])
    for name in SPLITS:
        labels = set(table.filter(pl.col("split") == name)["label"])
        if not labels:
            raise BadInput(f"{where}: no {name} instance is there, or none is left after cleaning and length filters")
        if name == "train" and len(labels) < 2:
            raise BadInput(f"{where}: all training labels are '{labels.pop()}'; a classifier needs two classes or more")
        strange = sorted(labels - known)
        if strange:
            raise BadInput(
                f"{where}: label '{strange[0]}' occurs in {name} but never in training; remove or relabel it"
            )
