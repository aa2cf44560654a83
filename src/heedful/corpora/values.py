"""The values of chosen columns, row by row, from CSV, TSV, JSON lines or Parquet."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from heedful.corpora.archives import lines
from heedful.corpora.rows import column_place, named_rows
from heedful.errors import BadInput
from heedful.files import scan_parquet
from heedful.printable import plain_text

Located = tuple[str, list[Any]]  # where the row is, for messages, and its values

_PARQUET_ROWS = 10_000  # rows of a Parquet file in memory at a time


def values(path: Path, columns: Sequence[str]) -> Iterator[Located]:
    """The given columns of every row; the kind of file is told by its name."""
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind in (".csv", ".tsv"):
        for line, row in named_rows(path, columns, delimiter="," if kind == ".csv" else "\t"):
            yield f"{path}, line {line}", row
    elif kind in (".jsonl", ".ndjson"):
        yield from _json_rows(path, columns)
    elif path.suffix == ".parquet":
        yield from _parquet_rows(path, columns)
    else:
        raise BadInput(f"{path}: unknown kind of file; valid: .csv, .tsv, .jsonl (each also .gz), .parquet")


def class_name(value: Any, where: str, column: str) -> str:
    """A label of any type as a class name: 1 and 1.0 are "1", True is "true"."""
    if (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, str) and not value.strip())
    ):
        raise BadInput(f"{where}: column '{column}' has no label; remove the row or fill it in")
    if isinstance(value, list | dict | bytes):
        raise BadInput(
            f"{where}: label {value!r} in column '{column}' is not one value; only one class a text is supported"
        )
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(plain_text(str(value), f"{where}, column '{column}'").split())


def json_object(line: str, where: str) -> dict[str, Any]:
    """A line of a JSON lines file."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError also for numbers of thousands of digits
        raise BadInput(f"{where}: not JSON ({error}); each line must be one object") from error
    if not isinstance(row, dict):
        raise BadInput(f'{where}: each line must be one object, such as {{"text": ...}}')
    return row


def _json_rows(path: Path, columns: Sequence[str]) -> Iterator[Located]:
    for number, line in lines(path):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        row = json_object(line, where)
        there = list(row)
        yield where, [row[there[column_place(there, column, where)]] for column in columns]


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Located]:
    try:
        frame = scan_parquet(path)
        there = frame.collect_schema().names()
        total = frame.select(pl.len()).collect().item()
    except pl.exceptions.PolarsError as error:
        raise BadInput(f"{path} is not a Parquet file, or damaged ({str(error).splitlines()[0]})") from error
    for column in columns:
        column_place(there, column, str(path))
    for start in range(0, total, _PARQUET_ROWS):
        rows = frame.select(pl.col(list(dict.fromkeys(columns)))).slice(start, _PARQUET_ROWS).collect()
        for number, row in enumerate(rows.iter_rows(named=True), start=start + 1):
            yield f"{path}, row {number}", [row[column] for column in columns]
