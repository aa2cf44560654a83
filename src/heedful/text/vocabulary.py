"""Vocabulary: the words of the training split that occur often enough, and their indices."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from heedful.damage import first_line, panics_as_errors
from heedful.errors import BadInput
from heedful.files import scan_parquet, write_parquet
from heedful.ragged import Ragged

PAD, UNKNOWN, START, END = 0, 1, 2, 3
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their indices, the four special ones first, the rest alphabetically."""

    words: tuple[str, ...]

    @classmethod
    def build(
        cls, documents: pl.LazyFrame, *, min_documents: int = 1, min_count: int = 1, always: Iterable[str] = ()
    ) -> "Vocabulary":
        """The words in `tokens` or `query` of at least `min_documents` rows that occur `min_count` times in all. Words
        of `always` are included, however rare. Documents are streamed."""
        query = "query" in documents.collect_schema()
        words = pl.concat_list("tokens", "query") if query else pl.col("tokens")
        frequent = _frequent(documents, words.list.unique(), min_documents)
        if min_count > min_documents:  # otherwise a word of so many documents occurs so often anyway
            frequent = frequent.join(_frequent(documents, words, min_count), on="word", how="semi")
        # a text that contains "<s>" must not speak for the sentinel: such words are unknown ones
        found = sorted({*frequent.collect()["word"], *always} - set(SPECIAL))
        if not found:
            often = f" and {min_count} times in all" if min_count > min_documents else ""
            raise BadInput(
                f"no word occurs in {min_documents} training documents{often}; lower min_documents"
                f"{' or min_count' if often else ''}"
            )
        return cls((*SPECIAL, *found))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _table(self) -> pl.DataFrame:
        words = self.words[len(SPECIAL) :]
        return pl.DataFrame({"word": words, "index": np.arange(len(SPECIAL), len(self), dtype=np.int32)})

    def encode(self, tokens: pl.Series) -> Ragged:
        """A list column of tokens as ragged word indices (int32); words never seen become `<unk>`."""
        lengths = tokens.list.len()
        flat = tokens.filter(lengths > 0).explode().rename("word").to_frame()
        found = flat.join(self._table, on="word", how="left", maintain_order="left")["index"]
        return Ragged.from_lengths(found.fill_null(UNKNOWN).to_numpy(), lengths.to_numpy())

    def write(self, path: Path) -> None:
        """One row a word, in the order of the indices."""
        write_parquet(path, pl.DataFrame({"word": self.words}))

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        """The vocabulary of a run."""
        try:
            with panics_as_errors():
                return cls(tuple(scan_parquet(path).collect()["word"]))
        except pl.exceptions.PolarsError as error:
            raise BadInput(f"{path} is damaged ({first_line(error)}): delete it and run again") from error


def _frequent(documents: pl.LazyFrame, words: pl.Expr, least: int) -> pl.LazyFrame:
    """Words that occur at least `least` times in the lists `words`."""
    flat = documents.select(word=words.list.explode(keep_nulls=False, empty_as_null=False))
    return flat.group_by("word").len().filter(pl.col("len") >= least).select("word")
