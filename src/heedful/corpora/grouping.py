"""Discharge summaries grouped by admission in bounded memory: one pass over the notes, a temporary database on disk."""

import sqlite3
from collections.abc import Container, Iterator
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from heedful.corpora.rows import named_rows
from heedful.errors import BadInput, DiskFull

_COLUMNS = ("HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "TEXT")
_BATCH = 500  # notes between two writes


def summaries(path: Path, wanted: Container[str]) -> Iterator[tuple[str, str]]:
    """Admission and text (the report, then addenda by date) of every wanted admission, by its number."""
    try:
        yield from _grouped(path, wanted)
    except sqlite3.OperationalError as error:
        raise DiskFull(
            f"{path}: its notes could not be grouped in the folder for temporary files ({error}): free some space "
            "there, or set SQLITE_TMPDIR to another folder"
        ) from error


def _grouped(path: Path, wanted: Container[str]) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect("")) as database:  # no name: SQLite keeps it in a file that vanishes with it
        database.execute("create table note (admission integer, addendum integer, date text, text text)")
        batch = []
        for line, (admission, date, category, description, text) in named_rows(path, _COLUMNS, any_case=True):
            if category.strip() == "Discharge summary" and admission in wanted:
                batch.append((_number(admission, path, line), description.strip() == "Addendum", date, text))
            if len(batch) >= _BATCH:
                database.executemany("insert into note values (?, ?, ?, ?)", batch)
                batch.clear()
        database.executemany("insert into note values (?, ?, ?, ?)", batch)
        rows = database.execute("select admission, text from note order by admission, addendum, date, rowid")
        for number, notes in groupby(rows, key=itemgetter(0)):
            yield str(number), "\n".join(text for _, text in notes)


def _number(admission: str, path: Path, line: int) -> int:
    try:
        return int(admission)
    except ValueError as error:
        raise BadInput(f"{path}, line {line}: HADM_ID '{admission}' is not a whole number") from error
