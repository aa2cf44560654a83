"""Reader: what a corpus must tell so that heedful can find it, read it and split it. One subclass a corpus."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from heedful.corpora.corpus import Document
from heedful.corpora.locating import Found, Layout, find_layout
from heedful.text.tokenising import tokeniser

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def class_names(labels: Iterable[str]) -> tuple[str, ...]:
    """Different class names in order: by number where all are numbers, else alphabetically.

    >>> class_names(["10", "9", "-1.5"]), class_names(["10", "9", "nan"])
    (('-1.5', '9', '10'), ('10', '9', 'nan'))
    """
    names = sorted(set(labels))  # first, so that equal numbers ("1", "1.0") have an order too
    return tuple(sorted(names, key=float) if all(map(_NUMBER.fullmatch, names)) else names)


class Options(BaseModel):
    """What a user may set about a corpus; a reader with more to set extends it.

    `cleaning` is "paper" (spaCy's tokens and `qqq` for numbers everywhere) or "released", as in the released code: IMDB
    has Keras' tokens, SST keeps its numbers, the bAbI stories keep their capitals and lose their last marks, and the
    classes of mimic-anemia and SNLI stand in another order.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cleaning: Literal["paper", "released"] = "paper"


class Reader(ABC):
    """A corpus in its native format."""

    name: ClassVar[str]
    task: ClassVar[str]  # a few words for `heedful corpora`
    sizes: ClassVar[str]  # the official numbers of instances
    how_to_get: ClassVar[str]  # one sentence, shown when the corpus is not found
    downloadable: ClassVar[bool] = False  # by `heedful corpora get`
    layouts: ClassVar[Sequence[Layout]] = ()  # where its files may lie; the first that is complete is taken
    options: ClassVar[type[Options]] = Options
    query: ClassVar[bool] = False  # its instances have a question or hypothesis (`table`: if its option `query` is set)
    unseen: ClassVar[bool] = False  # an instance whose answer is no class is kept, without a label

    def find(self, roots: Sequence[Path], options: Any, *, subset: bool) -> Found | None:
        """The corpus's files below one of `roots`, or None; a subset's only if `subset` allows it."""
        return find_layout(roots, self.layouts, subset=subset)

    @abstractmethod
    def documents(self, found: Found, options: Any) -> Iterator[Document]:
        """Every document, tokenised, one at a time; `split` is the native one ("" if there is none)."""

    @abstractmethod
    def classes(self, options: Any) -> tuple[str, ...] | None:
        """The class names in the order of their indices; None: what `answers` finds in the training split."""

    def answers(self, training: pl.LazyFrame) -> Iterable[str]:
        """The class names in the order of their indices, where `classes` gives none: the training labels.

        `training` has the columns tokens, label and, where documents have them, truth, query, candidates (names) and
        sentences.
        """
        return class_names(training.select("label").collect()["label"])

    def tokenise(self, text: str, options: Any) -> list[str]:
        """The tokens of a text, as in this corpus."""
        return tokeniser()(text)

    def has_sentences(self, options: Any) -> bool:
        """Whether its texts are cut into sentences."""
        return False

    def sentences(self, text: str, options: Any) -> list[list[str]] | None:
        """The tokens of a text sentence by sentence, as in this corpus; None: its texts are not cut into sentences."""
        return None

    def split(self, table: pl.DataFrame, options: Any) -> pl.Series:
        """The final split of each row of `table` (id, label, split, length); null drops the row.

        Where documents have sentences there are also `sentences`, how many, and `longest`, the tokens of the longest.
        """
        return table["split"]
