"""Random splits, drawn by scikit-learn from the papers' seeds, and length filters."""

import numpy as np
import polars as pl

from heedful.errors import BadInput


def hold_out(
    table: pl.DataFrame, *, among: str, into: str, share: float, seed: int, stratified: bool = False
) -> pl.DataFrame:
    """Move a random share of the rows of split `among` into split `into`. The draw depends on the order of rows: sort
    the table first if its order is arbitrary (an archive's)."""
    from sklearn.model_selection import train_test_split

    rows = np.flatnonzero((table["split"] == among).to_numpy())
    labels = table["label"].gather(rows)
    if len(rows) < 2:
        raise BadInput(f"{len(rows)} instances are too few to set {share:.0%} aside for {into}")
    if stratified:
        _check_strata(labels, into, share)
    strata = labels.to_numpy() if stratified else None
    _, held = train_test_split(rows, test_size=share, random_state=seed, stratify=strata)
    moved = np.zeros(len(table), dtype=bool)
    moved[held] = True
    return table.with_columns(split=pl.when(pl.Series(moved)).then(pl.lit(into)).otherwise(pl.col("split")))


def within_lengths(table: pl.DataFrame, *, above: int, below: int | None = None) -> pl.DataFrame:
    """Drop (as null) rows outside `above < length < below`. Without a bound the released code takes the split's own
    extreme, and so drops its longest or shortest texts: not repeated here."""
    fits = pl.col("length") > above
    if below is not None:
        fits &= pl.col("length") < below
    return table.with_columns(split=pl.when(fits).then(pl.col("split")))


def in_order_of(table: pl.DataFrame, split: pl.DataFrame) -> pl.Series:
    """The splits of `split`, a sorted copy of `table`, in the order of `table`."""
    return table.select("id").join(split.select("id", "split"), on="id", how="left", maintain_order="left")["split"]


def _check_strata(labels: pl.Series, into: str, share: float) -> None:
    counts = labels.value_counts(sort=True)
    rare = counts.row(len(counts) - 1, named=True)
    if rare["count"] < 2:
        raise BadInput(f"class '{rare[labels.name]}' has one instance, too few for two splits: add some, or drop it")
    if len(labels) * min(share, 1 - share) < len(counts):
        what = f"{len(labels)} instances of {len(counts)} classes"
        raise BadInput(f"{what} are too few to set {share:.0%} aside for {into}")
