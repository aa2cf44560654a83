"""Reader: how to find, read and split a corpus. One subclass a corpus, and one line in the registry."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from heedful.corpora.corpus import Document, LeftOut
from heedful.corpora.locating import Found, Layout, find_layout
from heedful.text.tokenising import tokeniser

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Options(BaseModel):
    """What a user may set about a corpus; a reader with more options extends it.

    `cleaning` is "paper" (spaCy's tokens and `qqq` for numbers everywhere) or "released", as in the released code: IMDB
    has Keras' tokens, SST keeps its numbers, the bAbI stories keep their capitals and lose their last marks, and the
    classes of mimic-anemia and SNLI stand in another order.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cleaning: Literal["paper", "released"] = "paper"


@dataclass(frozen=True)
class Published:
    """What others have published about a public file; a comment beside it says where."""

    sha256: str
    size: int  # bytes
    by: str  # a few words


@dataclass(frozen=True)
class Source:
    """Where `heedful corpora get` downloads a corpus, and what is known of it."""

    address: str
    folder: str  # below the download folder
    files: Mapping[str, str]  # role -> name
    rows: Mapping[str, int]  # split -> number of rows
    published: Mapping[str, Published] = field(default_factory=dict)  # role -> hash and size, where there is a source


class Reader(ABC):
    """A corpus in its native format."""

    name: str
    task: str  # a few words for `heedful corpora`
    sizes: ClassVar[str]  # the official numbers of instances
    how_to_get: ClassVar[str]  # one sentence, shown when the corpus is not found
    source: ClassVar[Source | None] = None  # None: it cannot be downloaded
    layouts: ClassVar[Sequence[Layout]] = ()  # where its files may be; the first complete one is used
    partial_layouts: ClassVar[Sequence[Layout]] = ()  # other files that will do as a subset
    built_in: ClassVar[bool] = False  # it is generated and needs no files
    restricted: ClassVar[bool] = (
        False  # its texts must not be passed on: only their owner may read what is made of them
    )
    options: ClassVar[type[Options]] = Options
    class_names: ClassVar[tuple[str, ...] | None] = None  # in the order of their indices; None: see `answers`
    query: ClassVar[bool] = False  # instances have a question or hypothesis (`table`: if its option `query` is set)
    unseen: ClassVar[bool] = False  # instances whose answer is no class are kept, without a label

    def find(self, roots: Sequence[Path], options: Any, *, subset: bool) -> Found | None:
        """The corpus's files below one of `roots`, or None; part of the data only if `subset` allows it."""
        if self.built_in:
            return Found()
        found = find_layout(roots, self.layouts, subset=subset)
        if found is None and subset:
            part = find_layout(roots, self.partial_layouts, subset=True)
            return None if part is None else Found(part.files, subset=True)
        return found

    @abstractmethod
    def documents(self, found: Found, options: Any) -> Iterator[Document | LeftOut]:
        """Every document, tokenised, one at a time; `split` is the native one ("" if there is none)."""

    def native_splits(self, found: Found) -> Iterator[str]:
        """The split of every row, to check a download; needed where there is a `source`."""
        raise NotImplementedError(f"corpus {self.name} has a source, but does not count its rows")

    def classes(self, options: Any) -> tuple[str, ...] | None:
        """The class names in the order of their indices; None: what `answers` finds in the training split."""
        return self.class_names

    def answers(self, training: pl.LazyFrame) -> Iterable[str]:
        """The class names in the order of their indices, where `classes` gives none: the training labels. `training`
        has the columns tokens, label and, where documents have them, truth, query, candidates (names) and sentences."""
        return sorted_classes(training.select("label").collect()["label"])

    def same_labels(self, labels: pl.Series, options: Any) -> Mapping[str, str]:
        """The labels that are another one written differently, and that other one."""
        return {}

    def notes(self, found: Found, labels: pl.Series, options: Any) -> Iterable[str]:
        """What a user should know about how the files were read, in sentences; `labels` are those of all documents."""
        return ()

    def tokenise(self, text: str, options: Any) -> list[str]:
        """The tokens of a text, as in this corpus."""
        return tokeniser()(text)

    def has_sentences(self, options: Any) -> bool:
        """Whether its texts are split into sentences."""
        return False

    def sentences(self, text: str, options: Any) -> list[list[str]] | None:
        """The tokens of a text by sentence, as in this corpus; None: its texts are not split into sentences."""
        return None

    def split(self, table: pl.DataFrame, options: Any) -> pl.Series:
        """The final split of each row of `table` (id, label, split, length); null drops the row. Where documents have
        sentences there are also `sentences`, how many, and `longest`, the tokens of the longest."""
        return table["split"]


def sorted_classes(labels: Iterable[str]) -> tuple[str, ...]:
    """The different labels in order: by number where all are numbers, else alphabetically.

    >>> sorted_classes(["10", "9", "-1.5"]), sorted_classes(["10", "9", "nan"])
    (('-1.5', '9', '10'), ('10', '9', 'nan'))
    """
    names = sorted(set(labels))  # first, so that equal numbers ("1", "1.0") have an order too
    return tuple(sorted(names, key=float) if all(map(_NUMBER.fullmatch, names)) else names)
