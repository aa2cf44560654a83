"""Corpus: tokenised instances with labels and splits, kept in one Parquet file and read as needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from heedful.files import scan_parquet

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Corpus:
    """A tokenised corpus on disk.

    Columns of the file: `split`, `id` (unique), `tokens` (list of strings), `label` (index into `classes`) and, where
    the deciding tokens are known, `truth` (list of booleans).
    """

    name: str
    classes: tuple[str, ...]
    path: Path
    content: str  # fingerprint of the source files and the options
    fingerprint: str  # the same, and of the code that read them
    subset: bool  # made from a part of the official data: to be said wherever a figure is shown

    def scan(self, split: str) -> pl.LazyFrame:
        """The instances of one split, lazily."""
        return scan_parquet(self.path).filter(pl.col("split") == split).drop("split")

    def split(self, split: str) -> pl.DataFrame:
        """The instances of one split."""
        return self.scan(split).collect()

    def batches(self, split: str, size: int, *, skip: int = 0) -> Iterator[pl.DataFrame]:
        """The instances of one split in frames of `size`, in order and in one pass; the first `skip` are left out."""
        pending: list[pl.DataFrame] = []
        for piece in self.scan(split).slice(skip).collect_batches(chunk_size=size, maintain_order=True):
            pending.append(piece)  # pieces come in sizes of their own
            rows = sum(map(len, pending))
            if rows >= size:
                joined = pl.concat(pending)
                whole = rows - rows % size
                yield from joined.head(whole).iter_slices(size)
                pending = [joined.tail(rows - whole)]
        if sum(map(len, pending)):
            yield pl.concat(pending)

    @property
    def columns(self) -> list[str]:
        """What is known of an instance."""
        return self.scan("test").collect_schema().names()

    def counts(self) -> dict[str, list[int]]:
        """The number of instances of each split by class, as in the papers' Table 1."""
        table = scan_parquet(self.path).group_by("split", "label").len().collect()
        numbers = {(row["split"], row["label"]): int(row["len"]) for row in table.iter_rows(named=True)}
        return {name: [numbers.get((name, label), 0) for label in range(len(self.classes))] for name in SPLITS}

    @property
    def label(self) -> str:
        """The name to print: a subset is called one."""
        return f"{self.name} (subset)" if self.subset else self.name


@dataclass(frozen=True, slots=True)
class Document:
    """One instance as a reader yields it; `label` is a class name, `truth` marks the tokens known to decide."""

    id: str
    tokens: Sequence[str]
    label: str
    split: str
    truth: Sequence[bool] | None = None
