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

    Columns of the file: `split`, `id` (unique), `tokens` (list of strings), `label` (index into `classes`; null where
    the answer is none of them) and, where there are such things, `truth` (list of booleans: the tokens known to
    decide), `query` (list of strings: the tokens of a question or hypothesis), `candidates` (list of indices into
    `classes`, rising: what may be answered in this instance; without the column, any class) and `sentences` (list of
    int32: how many of the tokens each sentence has, 1 or more; they add up to the number of tokens).
    """

    name: str
    classes: tuple[str, ...]
    path: Path
    content: str  # fingerprint of the source files and the options
    fingerprint: str  # the same, and of the code that read them
    subset: bool  # made from a part of the official data: to be said wherever a figure is shown

    def scan(self, *splits: str) -> pl.LazyFrame:
        """The instances of some splits, lazily."""
        return scan_parquet(self.path).filter(pl.col("split").is_in(splits)).drop("split")

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

    @property
    def query(self) -> bool:
        """Whether its instances have a question or hypothesis beside the text."""
        return "query" in self.columns

    def sizes(self) -> dict[str, int]:
        """The number of instances of each split."""
        table = scan_parquet(self.path).group_by("split").len().collect()
        numbers = dict(table.iter_rows())
        return {name: int(numbers.get(name, 0)) for name in SPLITS}

    def counts(self) -> dict[str, list[int]]:
        """The number of instances of each split by class, as in the papers' Table 1; those without a label left out."""
        table = scan_parquet(self.path).group_by("split", "label").len().collect()
        numbers = {(row["split"], row["label"]): int(row["len"]) for row in table.iter_rows(named=True)}
        return {name: [numbers.get((name, label), 0) for label in range(len(self.classes))] for name in SPLITS}

    @property
    def label(self) -> str:
        """The name to print: a subset is called one."""
        return f"{self.name} (subset)" if self.subset else self.name


@dataclass(frozen=True, slots=True)
class Document:
    """One instance as a reader yields it; a field that may be None is given by all documents of a corpus or by none.

    `label` is a class name, `truth` marks the tokens known to decide, `query` holds the tokens of a question or
    hypothesis, `candidates` the class names that may be answered here (None: every class), and `sentences` tells how
    many of the tokens each sentence has.
    """

    id: str
    tokens: Sequence[str]
    label: str
    split: str
    truth: Sequence[bool] | None = None
    query: Sequence[str] | None = None
    candidates: Sequence[str] | None = None
    sentences: Sequence[int] | None = None
