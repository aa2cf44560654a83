"""A table as the site shows it: only what people are shown, with the numbers behind it to sort by."""

from collections.abc import Sequence
from typing import Any

from heedful.report.tables.table import Table


def table_data(table: Table, keys: Sequence[str], *, only: int | None = None) -> dict[str, Any]:
    """Plain values; `keys` are what the site calls the table's runs, `only` is the position of one of them."""
    taken = [row for row, position in enumerate(table.positions) if only in (None, position)]
    formatted = table.formatted()
    columns = [table.columns[index] for index in table.shown]
    return {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "columns": [
            {name: getattr(column, name) for name in ("key", "title", "kind", "meaning")} for column in columns
        ],
        "rows": [[table.rows[row][index] for index in table.shown] for row in taken],
        "cells": [[formatted[row][index] for index in table.shown] for row in taken],
        "runs": [keys[table.positions[row]] for row in taken],
        "missing": list(table.missing) if only is None else [],
    }
