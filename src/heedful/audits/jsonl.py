"""Evidence as JSON lines: one object an instance, with the columns of the Parquet format."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from heedful.corpora.archives import lines
from heedful.corpora.values import json_object
from heedful.errors import BadInput


class _Column(NamedTuple):
    kind: pl.DataType
    levels: int  # of lists
    leaf: tuple[type, ...]
    said: str


def _column(leaf: pl.DataType, levels: int, *python: type) -> _Column:
    kind = leaf
    for _ in range(levels):
        kind = pl.List(kind)
    names = {pl.String(): "text", pl.Float64(): "numbers", pl.Int64(): "whole numbers", pl.Boolean(): "true or false"}
    return _Column(kind, levels, python, "a list of " * levels + names[leaf])


_COLUMNS = {
    "id": _column(pl.String(), 0, str),
    "tokens": _column(pl.String(), 1, str),
    "weights": _column(pl.Float64(), 1, float, int),
    "scores": _column(pl.Float64(), 2, float, int),
    "bias": _column(pl.Float64(), 1, float, int),
    "output": _column(pl.Float64(), 1, float, int),
    "label": _column(pl.Int64(), 0, int, type(None)),
    "query": _column(pl.String(), 1, str),
    "words": _column(pl.String(), 1, str),
    "sentences": _column(pl.Int64(), 1, int),
    "truth": _column(pl.Boolean(), 1, bool),
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
        kinds = {name: _COLUMNS[name].kind for name in columns}
        yield pl.DataFrame({name: pl.Series([row[name] for row in told], dtype=kinds[name]) for name in columns})


def _check(row: dict[str, Any], columns: list[str], where: str) -> None:
    for name, column in _COLUMNS.items():
        if (name in row) != (name in columns):
            state = "has" if name in row else "lacks"
            raise BadInput(f"{where}: {state} '{name}', unlike the first line; give all lines the same columns")
        if name in row and not _fits(row[name], column, column.levels):
            raise BadInput(f"{where}: '{name}' is not {column.said}; see docs/formats.md")


def _fits(value: Any, column: _Column, levels: int) -> bool:
    if levels:
        return isinstance(value, list) and all(_fits(each, column, levels - 1) for each in value)
    whole = not isinstance(value, int) or isinstance(value, bool) or abs(value) < 1 << 62
    return whole and isinstance(value, column.leaf) and (not isinstance(value, bool) or bool in column.leaf)
