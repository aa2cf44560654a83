"""Corpus: tokenised instances with labels and splits, kept in one Parquet file and read as needed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from heedful.errors import NotFound
from heedful.files import scan_parquet

SPLITS = ("train", "dev", "test")


@contextmanager
def deletion_named(path: Path) -> Iterator[None]:
    """Say so if a file of the cache, or one beside it, is gone while the block reads or makes it."""
    try:
        yield
    except FileNotFoundError as error:
        concerned = path.name in str(error) or not path.parent.exists()  # polars shortens what stands before the name
        if path.exists() or not concerned:
            raise
        raise NotFound(
            f"{path}: the cache was deleted while this file was in use: run again, which makes it anew; what was "
            "finished is kept"
        ) from error


@dataclass(frozen=True)
class Corpus:
    """A tokenised corpus on disk.

    The columns are the fields of `Document`; `label` is an index into `classes` (null: none of them), `candidates`
    are rising indices, `sentences` int32 of 1 or more. Optional columns are left out where nothing is known.
    """

    name: str
    classes: tuple[str, ...]
    path: Path
    content: str  # fingerprint of the source files and the options
    fingerprint: str  # the same, and of the code that read them
    subset: bool  # made from a part of the official data: to be said wherever a figure is shown
    notes: tuple[str, ...] = ()  # what the reader noticed about the files, in sentences

    def scan(self, *splits: str) -> pl.LazyFrame:
        """Instances of some splits, lazily."""
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
        """Columns of an instance."""
        return self.scan("test").collect_schema().names()

    @property
    def query(self) -> bool:
        """Whether instances have a question or hypothesis."""
        return "query" in self.columns

    def sizes(self) -> dict[str, int]:
        """Instances per split."""
        numbers = dict(scan_parquet(self.path).group_by("split").len().collect().iter_rows())
        return {name: int(numbers.get(name, 0)) for name in SPLITS}

    def counts(self) -> dict[str, list[int]]:
        """Labelled instances per split and class, as in the papers' Table 1."""
        table = scan_parquet(self.path).group_by("split", "label").len().collect()
        numbers = {(split, label): int(count) for split, label, count in table.iter_rows()}
        return {name: [numbers.get((name, label), 0) for label in range(len(self.classes))] for name in SPLITS}

    @property
    def label(self) -> str:
        """The name to print: a subset is called one."""
        return f"{self.name} (subset)" if self.subset else self.name


@dataclass(frozen=True, slots=True)
class Document:
    """One instance as a reader yields it; all documents of a corpus have an optional field, or none has it."""

    id: str
    tokens: Sequence[str]
    label: str  # a class name
    split: str
    truth: Sequence[bool] | None = None  # the tokens known to decide
    query: Sequence[str] | None = None  # tokens of a question or hypothesis
    candidates: Sequence[str] | None = None  # class names that may be answered; None: every class
    sentences: Sequence[int] | None = None  # tokens per sentence


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that is no instance because the user's options leave it out."""

    why: str  # e.g. "without text"
