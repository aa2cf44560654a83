"""The texts of an audit as the model reads them, some at a time."""

from typing import NamedTuple

import numpy as np
import polars as pl

from heedful.adapters.subject import Subject
from heedful.adapters.texts import Texts
from heedful.audits.cutting import cut
from heedful.audits.directory import Audit
from heedful.errors import BadInput
from heedful.files import scan_parquet
from heedful.ragged import Indices
from heedful.validation import NO_LABEL

NEAR = 1024  # rows that are read at once to have some of them


class Some(NamedTuple):
    """Some texts."""

    ids: list[str]
    texts: Texts
    labels: Indices  # NO_LABEL where there is none


class Reader:
    """Reads texts.parquet part by part; numbers alone are held of all texts."""

    def __init__(self, audit: Audit, subject: Subject) -> None:
        self.subject = subject
        self._table = scan_parquet(audit.folder / "texts.parquet")
        counts = self._table.select("tokens").collect()["tokens"].to_numpy().astype(np.int64)
        longest = subject.longest if audit.options.data.truncate else None
        self.lengths = counts if longest is None else np.minimum(counts, longest)  # (n,): in tokens
        self._longest = longest

    def __call__(self, rows: Indices) -> Some:
        """The texts of the given rows, which rise."""
        frame = rows_of(self._table, rows)
        ids = frame["id"].to_list()
        texts = cut(self.subject.encode(frame["text"].to_list()), self._longest)
        if not texts.lengths.all():
            name = ids[int(np.argmin(texts.lengths))]
            raise BadInput(f"text '{name}': its first word alone is longer than the model reads; remove it")
        return Some(ids, texts, frame["label"].cast(pl.Int64).fill_null(NO_LABEL).to_numpy())


def rows_of(table: pl.LazyFrame, rows: Indices) -> pl.DataFrame:
    """Some rows of a file, which rise; what lies between far ones is passed over, not held."""
    first, last = int(rows[0]), int(rows[-1])
    if last - first < NEAR:
        return table.slice(first, last + 1 - first).collect()[rows - first]
    numbered = table.with_row_index("heedful_row")
    wanted = pl.Series(rows, dtype=pl.UInt32)
    return numbered.filter(pl.col("heedful_row").is_in(wanted)).drop("heedful_row").collect(engine="streaming")
