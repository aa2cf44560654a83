"""The values of chosen columns, row by row, from CSV, TSV, JSON lines or Parquet."""

import csv
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from heedful.corpora.archives import lines
from heedful.damage import first_line, guarded, panics_as_errors, unreadable
from heedful.errors import BadInput
from heedful.files import scan_parquet
from heedful.printable import plain_text

Row = tuple[int, list[str]]  # the line it ends on, and its fields

_LONGEST_FIELD = 2**31 - 1  # the csv module's own limit is shorter than some clinical notes


def csv_rows(path: Path, *, delimiter: str = ",", quotes: bool = True) -> Iterator[Row]:
    """The rows of a delimited UTF-8 file, plain or .gz; empty lines are passed over."""
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(
        (text for _, text in lines(path)),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BadInput(
                f"{path}, row that begins on line {start}: {error}; a field with quotes, line breaks or '{delimiter}' "
                'must stand in double quotes, and quotes inside it must be doubled ("")'
            ) from error
        if row:
            yield reader.line_num, row


def named_rows(path: Path, columns: Sequence[str], *, delimiter: str = ",", any_case: bool = False) -> Iterator[Row]:
    """The given columns, in their order, of a delimited file with a header; an error lists those there are."""
    rows = csv_rows(path, delimiter=delimiter)
    _, header = next(rows, (0, []))
    there = [name.strip().upper() if any_case else name.strip() for name in header]
    places = [column_place(there, column, str(path)) for column in columns]
    for line, row in rows:
        if len(row) != len(header):
            raise BadInput(f"{path}, line {line}: {len(row)} fields, but the header has {len(header)}; missing quote?")
        yield line, [row[place] for place in places]


def column_place(there: Sequence[str], column: str, where: str) -> int:
    """The index of a column, or an error that lists the columns there are."""
    if column not in there:
        raise BadInput(f"{where} has no column '{column}'; it has: {', '.join(there) or 'none, it is empty'}")
    if list(there).count(column) > 1:
        raise BadInput(f"{where} has several columns '{column}'; rename all but one")
    return there.index(column)


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
    blank = not value.strip() if isinstance(value, str) else isinstance(value, float) and math.isnan(value)
    if value is None or blank:
        raise BadInput(f"{where}: column '{column}' has no label; remove the row or fill it in")
    if isinstance(value, list | dict | bytes):
        raise BadInput(f"{where}: label {value!r} in column '{column}' is not one value; give one class per text")
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


def parquet_columns(path: Path) -> list[str]:
    """The names of the columns of a Parquet file."""
    with _parquet_damage(path):
        return scan_parquet(path).collect_schema().names()


@contextmanager
def _parquet_damage(path: Path) -> Iterator[None]:
    try:
        with panics_as_errors():
            yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise unreadable(path, f" is not a Parquet file, or damaged ({first_line(error)})", error) from error


def _json_rows(path: Path, columns: Sequence[str]) -> Iterator[Located]:
    for number, line in lines(path):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        row = json_object(line, where)
        there = list(row)
        yield where, [row[there[column_place(there, column, where)]] for column in columns]


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Located]:
    there = parquet_columns(path)
    for column in columns:
        column_place(there, column, str(path))
    wanted = scan_parquet(path).select(pl.col(list(dict.fromkeys(columns))))
    with _parquet_damage(path):  # in batches: slices would decode groups anew
        batches = wanted.collect_batches(chunk_size=_PARQUET_ROWS, engine="streaming")
    rows = (row for batch in guarded(batches, partial(_parquet_damage, path)) for row in batch.iter_rows(named=True))
    for number, row in enumerate(rows, start=1):
        yield f"{path}, row {number}", [row[column] for column in columns]
