"""Evidence as JSON lines: one object an instance, with the columns of the Parquet format."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from heedful.corpora.archives import lines
from heedful.corpora.values import json_object
from heedful.errors import BadInput

_NUMBERS = pl.List(pl.Float64)
_WHOLE = pl.List(pl.Int64)
_COLUMNS: dict[str, pl.DataType] = {
    "id": pl.String(),
    "tokens": pl.List(pl.String),
    "weights": _NUMBERS,
    "scores": pl.List(_NUMBERS),
    "bias": _NUMBERS,
    "output": _NUMBERS,
    "label": pl.Int64(),
    "query": pl.List(pl.String),
    "words": pl.List(pl.String),
    "sentences": _WHOLE,
    "truth": pl.List(pl.Boolean),
}


def json_frames(path: Path, size: int) -> Iterator[pl.DataFrame]:
    """The instances of a JSON lines file, `size` at a time; all have the columns of the first one."""
    rows = ((f"{path}, line {number}", line) for number, line in lines(path) if line.strip())
    columns: list[str] | None = None
    while some := list(islice(rows, size)):
        told = [json_object(line, where) for where, line in some]
        columns = columns or [name for name in _COLUMNS if name in told[0]]
        for (where, _), row in zip(some, told, strict=True):
            _check(row, columns, where)
        yield pl.DataFrame({name: pl.Series([row[name] for row in told], dtype=_COLUMNS[name]) for name in columns})


def _check(row: dict[str, Any], columns: list[str], where: str) -> None:
    for name in _COLUMNS:
        if (name in row) != (name in columns):
            state = "has" if name in row else "lacks"
            raise BadInput(f"{where}: {state} '{name}', unlike the first line; give all lines the same columns")
    for name in columns:
        try:
            pl.Series([row[name]], dtype=_COLUMNS[name], strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
            raise BadInput(f"{where}: '{name}' is not {_COLUMNS[name]}; see docs/formats.md") from error
