"""Table: raw values with columns that say what they mean, and the cells as people read them."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

from heedful.printable import figure, printable

Value = str | int | float | bool | None
Kind = Literal["text", "count", "figure", "percent", "signed", "p", "flag"]

UNKNOWN = "\u2013"  # an en dash: the cell of what is undefined or not known


@dataclass(frozen=True)
class Column:
    """A column; one that holds a part (`std`, `low`, `high`) of another is shown in that one's cells."""

    key: str  # unique in its table
    title: str  # for people, short
    kind: Kind = "text"
    digits: int = 2  # of a figure; of a percentage in points
    meaning: str = ""  # one sentence
    published: bool = False  # from the paper, not ours
    beside: str = ""  # the key of our column that a published one is compared with
    part: Literal["", "std", "low", "high"] = ""
    of: str = ""  # the key of the column that this one is a part of

    def format(self, value: Value) -> str:
        """A value as people read it."""
        return UNKNOWN if value is None else _FORMATS[self.kind](value, self.digits)


@dataclass(frozen=True)
class Table:
    """A table of a report; values are never NaN, None is what is undefined or not known."""

    name: str  # the stem of its files
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    missing: tuple[str, ...] = ()  # a sentence for each run and experiment that could not be told
    runs: tuple[str | None, ...] = ()  # the folder's name of the run that each row is of
    positions: tuple[int, ...] = ()  # that run among those that the table was made of

    @property
    def shown(self) -> tuple[int, ...]:
        """Which columns people are shown; the others are parts of these."""
        return tuple(index for index, column in enumerate(self.columns) if not column.part)

    @cached_property
    def formatted(self) -> tuple[tuple[str, ...], ...]:
        """A cell for each value: those of the shown columns with their spread and interval, 0.38±0.19 [0.37, 0.39]."""
        parts: dict[str, list[int]] = {}
        for index, column in enumerate(self.columns):
            if column.part:
                parts.setdefault(column.of, []).append(index)
        columns = [(index, parts.get(column.key, [])) for index, column in enumerate(self.columns)]
        return tuple(tuple(self._cell(row, index, own) for index, own in columns) for row in self.rows)

    def _cell(self, row: tuple[Value, ...], index: int, own: list[int]) -> str:
        column, value = self.columns[index], row[index]
        text = column.format(value)
        if value is None or column.part:
            return text
        parts = {self.columns[part].part: self.columns[part].format(row[part]) for part in own if row[part] is not None}
        text += f"±{parts['std']}" if "std" in parts else ""
        if "low" not in parts or "high" not in parts:
            return text
        return f"{text} [{parts['low'].removesuffix('%')}, {parts['high'].removesuffix('%')}]"

    def to_json(self) -> dict[str, Any]:
        """Plain values: `columns`, `shown` (indices of columns), raw `rows`, the cells as `formatted`, `runs`."""
        return {
            **{name: getattr(self, name) for name in ("name", "title", "caption")},
            "columns": [asdict(column) for column in self.columns],
            "shown": list(self.shown),
            "rows": [list(row) for row in self.rows],
            "formatted": [list(row) for row in self.formatted],
            "runs": list(self.runs),
            "missing": list(self.missing),
        }


_FORMATS: dict[Kind, Callable[[Any, int], str]] = {
    "text": lambda value, digits: printable(value),
    "count": lambda value, digits: f"{value:,}",
    "figure": figure,
    "percent": lambda value, digits: f"{figure(100 * value, digits)}%",
    "signed": lambda value, digits: f"{round(value, digits) + 0.0:+.{digits}f}",
    "p": lambda value, digits: "<0.001" if value < 0.001 else f"{value:.3f}",
    "flag": lambda value, digits: "yes" if value else "no",
}


def shown(table: Table) -> tuple[list[Column], list[list[str]]]:
    """The columns that are no parts of others, and their cells."""
    columns = [table.columns[index] for index in table.shown]
    return columns, [[row[index] for index in table.shown] for row in table.formatted]


def full_caption(table: Table, rows: list[list[str]]) -> str:
    """The caption, and what a dash means if there is one."""
    unknown = any(cell == UNKNOWN for row in rows for cell in row)
    return table.caption + (f" {UNKNOWN}: undefined, or not known." if unknown else "")


def quiet(rows: list[list[str]]) -> list[list[str]]:
    """Corpus and model only where they change."""
    before = [["", ""], *(row[:2] for row in rows)]
    return [["", "", *row[2:]] if row[:2] == last else row for row, last in zip(rows, before, strict=False)]
