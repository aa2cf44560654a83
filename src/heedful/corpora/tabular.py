"""The values of chosen columns, row by row, from CSV, TSV, JSON lines or Parquet."""

import csv
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from heedful.bounds import longest, too_long
from heedful.corpora.bad_rows import BadRow, NoLabel, Refuse, raise_at_once
from heedful.corpora.text_format import TextFormat, kind_of, text_format, text_lines
from heedful.damage import first_line, guarded, panics_as_errors, unreadable
from heedful.errors import BadInput
from heedful.files import scan_parquet
from heedful.printable import plain_text

Row = tuple[int, list[str]]  # the line it ends on, and its fields

_NO_LIMIT = 2**31 - 1  # of a field: the csv module's own is shorter than some clinical notes, and rows have one here


def csv_rows(
    path: Path, *, delimiter: str = ",", quotes: bool = True, encoding: str = "utf-8", refuse: Refuse = raise_at_once
) -> Iterator[Row]:
    """The rows of a delimited file, plain or .gz; empty lines are passed over, and rows that `refuse` takes."""
    csv.field_size_limit(_NO_LIMIT)
    most, length, start = longest(), 0, 1

    def texts() -> Iterator[str]:
        nonlocal length
        for _, text in text_lines(path, encoding):
            length += len(text)
            if length > most:  # a row goes on as long as a quote is open
                raise too_long(f"{path}, row that begins on line {start}", most)
            yield text

    reader = csv.reader(
        texts(),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        start, length = reader.line_num + 1, 0
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = BadRow(
                f"{path}, row that begins on line {start}",
                str(error),
                f"a field with quotes, line breaks or '{delimiter}' must stand in double quotes, and quotes inside it "
                'must be doubled ("")',
            )
            problem.__cause__ = error
            refuse(problem)
            continue
        if row:
            yield reader.line_num, row


def named_rows(
    path: Path,
    columns: Sequence[str],
    *,
    delimiter: str = ",",
    any_case: bool = False,
    encoding: str = "utf-8",
    refuse: Refuse = raise_at_once,
) -> Iterator[Row]:
    """The given columns, in their order, of a delimited file with a header; an error lists those there are."""
    rows = csv_rows(path, delimiter=delimiter, encoding=encoding, refuse=refuse)
    _, header = next(rows, (0, []))
    there = [name.strip().upper() if any_case else name.strip() for name in header]
    places = [column_place(there, column, str(path)) for column in columns]
    for line, row in rows:
        if len(row) == len(header):
            yield line, [row[place] for place in places]
        else:
            problem = f"{len(row)} fields, but the header has {len(header)}"
            refuse(BadRow(f"{path}, line {line}", problem, "missing quote?"))


def column_place(there: Sequence[str], column: str, where: str) -> int:
    """The index of a column, or an error that lists the columns there are, and the nearest across case and spaces."""
    if column not in there:
        near = _nearest(there, column)
        hint = f" (did you mean '{near}'?)" if near else ""
        raise BadInput(f"{where} has no column '{column}'{hint}; it has: {', '.join(there) or 'none, it is empty'}")
    if list(there).count(column) > 1:
        raise BadInput(f"{where} has several columns '{column}'; rename all but one")
    return there.index(column)


def _nearest(there: Sequence[str], column: str) -> str:
    """The column whose name is nearest to that of another, if any is near."""
    wanted, plain = _plain_name(column), {_plain_name(name): name for name in reversed(there)}
    near = get_close_matches(wanted, plain, n=1) or [name for name in plain if wanted and wanted in name]
    return plain[near[0]] if near else ""


def _plain_name(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


Located = tuple[str, list[Any]]  # where the row is, for messages, and its values

_PARQUET_ROWS = 10_000  # rows of a Parquet file in memory at a time


def values(
    path: Path, columns: Sequence[str], *, form: TextFormat | None = None, refuse: Refuse = raise_at_once
) -> Iterator[Located]:
    """The given columns of every row; the kind of file is told by its name, its format as `text_format` tells it."""
    kind = kind_of(path)
    if kind in (".csv", ".tsv"):
        form = form or text_format(path)
        delimiter = form.delimiter or ","
        for line, row in named_rows(path, columns, delimiter=delimiter, encoding=form.encoding, refuse=refuse):
            yield f"{path}, line {line}", row
    elif kind in (".jsonl", ".ndjson"):
        yield from _json_rows(path, columns, (form or text_format(path)).encoding, refuse)
    elif path.suffix == ".parquet":
        yield from _parquet_rows(path, columns)
    else:
        raise BadInput(f"{path}: unknown kind of file; valid: .csv, .tsv, .jsonl (each also .gz), .parquet")


def columns_of(path: Path, form: TextFormat | None = None) -> list[str]:
    """The columns of a table; of JSON lines, those of the first one. None of a file that is no table."""
    kind = kind_of(path)
    if kind in (".csv", ".tsv"):
        form = form or text_format(path)
        _, header = next(csv_rows(path, delimiter=form.delimiter or ",", encoding=form.encoding), (0, []))
        return [name.strip() for name in header]
    if kind in (".jsonl", ".ndjson"):
        rows = text_lines(path, (form or text_format(path)).encoding)
        first = next(((number, line) for number, line in rows if line.strip()), None)
        return [] if first is None else list(json_object(first[1], f"{path}, line {first[0]}"))
    return parquet_columns(path) if path.suffix == ".parquet" else []


def is_blank(value: Any) -> bool:
    """Whether a cell holds nothing."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def class_name(value: Any, where: str, column: str) -> str:
    """A label of any type as a class name: 1 and 1.0 are "1", True is "true"."""
    if is_blank(value):
        raise NoLabel(where, f"column '{column}' has no label", "remove the row or fill it in")
    if isinstance(value, list | dict | bytes):
        problem = f"label {str(value)[:40]} in column '{column}' is not one value"
        raise BadRow(where, problem, "give one class per text")
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
        raise BadRow(where, f"not JSON ({error})", "each line must be one object") from error
    if not isinstance(row, dict):
        raise BadRow(where, "each line must be one object", 'such as {"text": ...}')
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


def _json_rows(path: Path, columns: Sequence[str], encoding: str, refuse: Refuse) -> Iterator[Located]:
    any_row = False
    for number, line in text_lines(path, encoding):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json_object(line, where)
            there = list(row)
            cells = [row[there[column_place(there, column, where)]] for column in columns]
        except BadInput as error:
            if not any_row and not isinstance(error, BadRow):  # no row has such a column, most likely
                raise
            refuse(error)
        else:
            any_row = True
            yield where, cells


def _checked(batch: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Rows whose texts are not too long: a text that many rows share is stored, and in memory, only once so far."""
    most = longest()
    for column in batch.iter_columns():
        if column.dtype == pl.String and (column.str.len_bytes() > most).any():
            raise too_long(f"{path}, column '{column.name}'", most)
    return batch


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Located]:
    there = parquet_columns(path)
    for column in columns:
        column_place(there, column, str(path))
    wanted = scan_parquet(path).select(pl.col(list(dict.fromkeys(columns))))
    with _parquet_damage(path):  # in batches: slices would decode groups anew
        batches = wanted.collect_batches(chunk_size=_PARQUET_ROWS, engine="streaming")
    read = (_checked(batch, path) for batch in guarded(batches, partial(_parquet_damage, path)))
    rows = (row for batch in read for row in batch.iter_rows(named=True))
    for number, row in enumerate(rows, start=1):
        yield f"{path}, row {number}", [row[column] for column in columns]
