"""Vocabulary: the words of the training split that occur in enough documents, and their indices."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

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
    def build(cls, documents: pl.LazyFrame, *, min_documents: int = 1, always: Iterable[str] = ()) -> "Vocabulary":
        """The words that at least `min_documents` documents (rows) have in `tokens` or, where it exists, in `query`.

        The words of `always` are in, however often they occur. Documents are streamed.
        """
        query = "query" in documents.collect_schema()
        words = pl.concat_list("tokens", "query") if query else pl.col("tokens")
        counts = (
            documents.select(word=words.list.unique().list.explode(keep_nulls=False, empty_as_null=False))
            .group_by("word")
            .len()
            .filter(pl.col("len") >= min_documents)
            .select("word")
            .collect()
        )
        # a text that contains "<s>" must not speak for the sentinel: such words are unknown ones
        found = sorted({*counts["word"], *always} - set(SPECIAL))
        if not found:
            raise BadInput(f"no word occurs in {min_documents} training documents; lower min_documents")
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
            return cls(tuple(scan_parquet(path).collect()["word"]))
        except pl.exceptions.PolarsError as error:
            raise BadInput(f"{path} is damaged ({error}): delete it and run again") from error
