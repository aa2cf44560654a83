"""What every format shows of a table: the columns for people, their cells, the caption."""

from heedful.report.tables.table import UNKNOWN, Column, Table


def shown(table: Table) -> tuple[list[Column], list[list[str]]]:
    """The columns that are no parts of others, and their cells."""
    columns = [table.columns[index] for index in table.shown]
    return columns, [[row[index] for index in table.shown] for row in table.formatted()]


def full_caption(table: Table, rows: list[list[str]]) -> str:
    """The caption, and what a dash means if there is one."""
    unknown = any(cell == UNKNOWN for row in rows for cell in row)
    return table.caption + (f" {UNKNOWN}: undefined, or not known." if unknown else "")


def quiet(rows: list[list[str]]) -> list[list[str]]:
    """Corpus and model only where they change."""
    told, before = [], ["", ""]
    for row in rows:
        told.append(["", "", *row[2:]] if row[:2] == before else row)
        before = row[:2]
    return told
