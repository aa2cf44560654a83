"""Tables in the terminal, where a wide one becomes narrower and no figure is cut, as CSV and Markdown, and as files."""

import csv
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Drawn
from rich.text import Text

from heedful.files import write_text
from heedful.printable import printable
from heedful.report.tables.latex import to_latex
from heedful.report.tables.table import UNKNOWN, Column, Table, Value, full_caption, quiet, shown

_WIDTH = 100
_SHORT = {"comprehensiveness": "compr.", "sufficiency": "suff."}  # where there is little room
_INTERVAL = re.compile(r"(\[[-+\d.]+), ")
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # what spreadsheets compute, given as text; also in full width


def to_rich(table: Table, *, width: int = _WIDTH) -> RenderableType:
    """The table in so many characters across, if it can be done, with its caption and, in short, what is missing."""
    columns, rows = shown(table)
    titles, cells = [column.title for column in columns], quiet(rows)
    if _across([titles, *cells]) > width:
        columns, titles, cells = _stacked(columns, cells)
    text = [column.kind == "text" for column in columns]
    grid = _wrapped([titles, *cells], text, width)
    if _across(grid) > width:  # each end of an interval in a line
        cells = [[_INTERVAL.sub("\\1,\n", cell) for cell in row] for row in cells]
        grid = _wrapped([titles, *cells], text, width)
    if _across(grid) > width:  # deviations below their means
        cells = [[cell.replace("±", "\n±") for cell in row] for row in cells]
        titles = [re.sub("comprehensiveness|sufficiency", lambda found: _SHORT[found[0]], title) for title in titles]
        grid = _wrapped([titles, *cells], text, width)
    drawn = Drawn(title=Text(table.title), title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column, title in zip(columns, grid[0], strict=True):
        left = column.kind in ("text", "flag")
        drawn.add_column(Text(title), justify="left" if left else "right", overflow="fold")
    for row in grid[1:]:
        drawn.add_row(*map(Text, row))
    notes = [Text(sentence) for sentence in _short(table.missing)]
    return Group(drawn, Text(full_caption(table, cells)), *notes, Text())


def _stacked(columns: list[Column], rows: list[list[str]]) -> tuple[list[Column], list[str], list[list[str]]]:
    """The model below its corpus, intervals in lines of their own, the paper's figures, in parentheses, below ours."""
    keys = [column.key for column in columns]
    below = {keys.index(column.beside): index for index, column in enumerate(columns) if column.beside in keys}
    own = [index for index, column in enumerate(columns) if index > 1 and column.beside not in keys]
    titles = ["run", *(columns[index].title + ("\n(paper)" if index in below else "") for index in own)]
    cells = []
    for row in rows:
        paper = {index: f"\n({row[other]})" for index, other in below.items() if row[other] != UNKNOWN}
        figures = (row[index].replace(" [", "\n[") + paper.get(index, "") for index in own)
        cells.append(["\n".join(filter(None, row[:2])), *figures])
    return [columns[0], *(columns[index] for index in own)], titles, cells


def _wrapped(grid: list[list[str]], text: list[bool], width: int) -> list[list[str]]:
    """Titles and text in shorter lines, the widest column first, until all fits or single words stand in lines."""
    columns = list(zip(*grid, strict=True))
    sizes = [max(map(_longest, column)) for column in columns]
    least = [max(map(_word, column)) for column in columns]
    for index, column in enumerate(columns):
        if not text[index]:  # a title need not be wider than what is below it
            sizes[index] = max([_word(column[0]), *map(_longest, column[1:])])
    while sum(sizes) + len(sizes) - 1 > width:
        wide = [index for index, is_text in enumerate(text) if is_text and sizes[index] > least[index]]
        if not wide:
            break
        sizes[max(wide, key=sizes.__getitem__)] -= 1
    titles = [_fill(title, size) for title, size in zip(grid[0], sizes, strict=True)]
    rows = (zip(row, sizes, text, strict=True) for row in grid[1:])
    return [titles, *([_fill(cell, size) if is_text else cell for cell, size, is_text in row] for row in rows)]


def _fill(text: str, width: int) -> str:
    """Text in lines of at most so many characters, broken between words and after hyphens only."""
    return "\n".join("\n".join(_broken(line, width)) for line in text.split("\n"))


def _broken(line: str, width: int) -> Iterator[str]:
    held = ""
    for piece in re.findall(r"\s*[^\s-]*-*", line):
        if held and cell_len((held + piece).rstrip()) > width:
            yield held.rstrip()
            held = piece.lstrip()
        else:
            held += piece
    yield held.rstrip()


def _across(rows: list[list[str]]) -> int:
    """How wide a grid is, with a space between columns."""
    return sum(max(map(_longest, column)) + 1 for column in zip(*rows, strict=True)) - 1


def _longest(cell: str) -> int:
    return max(map(cell_len, cell.split("\n")))


def _word(cell: str) -> int:
    """The longest piece that is not broken: of a word with hyphens, up to the next one."""
    return max((cell_len(piece) for word in cell.split() for piece in re.findall("[^-]*-*", word)), default=0)


def _short(missing: tuple[str, ...]) -> list[str]:
    """Sentences that say the same of several runs as one."""
    split = sorted((sentence.partition(": ")[::2] for sentence in missing), key=lambda pair: pair[1])
    grouped = ((reason, [run for run, _ in pairs]) for reason, pairs in groupby(split, key=lambda pair: pair[1]))
    return [printable(f"{runs[0] if len(runs) == 1 else f'{len(runs)} runs'}: {reason}") for reason, runs in grouped]


def write_tables(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Each table as `<name>.csv`, `.md` and `.tex`; the files that were written."""
    written = []
    for table in tables:
        for ending, convert in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            written.append(folder / f"{table.name}.{ending}")
            write_text(written[-1], convert(table))
    return written


def to_csv(table: Table) -> str:
    """All columns under their keys and the run's folder; numbers as they are, nothing for what is not known."""
    sheet = StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow([*(column.key for column in table.columns), "run"])
    for row, run in zip(table.rows, table.runs, strict=True):
        writer.writerow([_csv_cell(value) for value in (*row, run)])
    return sheet.getvalue()


def _csv_cell(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case str():
            text = printable(value)
            return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
    return repr(value)


def to_markdown(table: Table) -> str:
    """A heading, the table, its caption and what is missing."""
    columns, rows = shown(table)
    lines = [
        f"## {_markdown(table.title)}",
        "",
        _line(_markdown(column.title) for column in columns),
        _line("---" if column.kind in ("text", "flag") else "---:" for column in columns),
        *(_line(map(_markdown, row)) for row in rows),
        "",
        _markdown(full_caption(table, rows)),
    ]
    if table.missing:
        lines += ["", "Not told:", "", *(f"- {_markdown(sentence)}" for sentence in table.missing)]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    text = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\|`*_{}\[\]#~!$])", r"\\\1", text)
    # an interval is no link: numbers in brackets stay as they are
    return re.sub(r"\\\[([-+\d., ]+)\\\]", r"[\1]", text)
