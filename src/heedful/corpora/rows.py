"""Rows of CSV and TSV files, streamed, with errors that name the line."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from heedful.corpora.archives import lines
from heedful.errors import BadInput

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
            raise BadInput(
                f"{path}, line {line}: {len(row)} fields, but the header has {len(header)}; is a quote missing?"
            )
        yield line, [row[place] for place in places]


def column_place(there: Sequence[str], column: str, where: str) -> int:
    """The index of a column, or an error that lists the columns there are."""
    if column not in there:
        raise BadInput(f"{where} has no column '{column}'; it has: {', '.join(there) or 'none, it is empty'}")
    if list(there).count(column) > 1:
        raise BadInput(f"{where} has several columns '{column}'; rename all but one")
    return there.index(column)
