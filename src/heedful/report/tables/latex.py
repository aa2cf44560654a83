"""Tables as LaTeX that fits its page: turned on its side, in parts side by side or one below the other, as it takes.

TeX alone knows how wide its letters are; here they are estimated, rather too wide than too narrow.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from heedful.printable import printable
from heedful.report.heatmaps.files import OTHER_LETTERS, tex, tex_any
from heedful.report.tables.table import Table, full_caption, quiet, shown

SEPARATION = 3  # \tabcolsep, in points: half of what is between two columns
# points, in LaTeX's own article of ten points, whose text is narrower than that of other papers
_WIDTH, _HEIGHT = 345, 550
_EM, _LINE = 8.5, 9.5  # of \footnotesize there
_CAPTION_EM, _CAPTION_LINE = 10.0, 12.0
_AROUND = 50  # rules, and what is above and below a caption
_TEXT = 110  # longer text is broken into lines
_FLOATS = 10  # LaTeX keeps 18 until there is room for them, and stops at more

# thousandths of an em, by the widest of a group in Computer Modern
_WIDTHS = {
    **dict.fromkeys("ijl.,:;'!|[]` ", 340),
    **dict.fromkeys("ftrs()/-I", 410),
    **dict.fromkeys("0123456789acegkoqvxyz", 530),
    **dict.fromkeys("bdhnpu", 560),
    **dict.fromkeys("mwMW%±≤≥≠+<>=\u2212#&@", 1030),
}
_OTHERS = 790  # capitals, and whatever else


class Environment(NamedTuple):
    """A `table` and what is in it; lines are LaTeX already."""

    kind: str  # table, table*, sidewaystable
    name: str
    caption: str
    columns: str  # as a tabular describes them
    head: Sequence[str]
    body: Sequence[str]
    continued: bool = False  # of the table before: the same number

    def latex(self) -> str:
        """As it stands in a document."""
        counted = "\\addtocounter{table}{-1}\n" if self.continued else ""
        body = "".join(f"{row}\n" for row in self.body)
        return (
            f"\\begin{{{self.kind}}}\n\\centering\\footnotesize\\setlength{{\\tabcolsep}}{{{SEPARATION}pt}}\n{counted}"
            f"\\caption{{{tex_any(self.caption)}}}\n\\label{{tab:{self.name}}}\n"
            f"\\begin{{tabular}}{{@{{}}{self.columns}@{{}}}}\n\\toprule\n"
            f"{chr(10).join(self.head)}\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n\\end{{{self.kind}}}\n"
        )


def document_part(environments: Iterable[Environment], missing: Iterable[str] = ()) -> str:
    """Environments for a document, after what they need; what is missing stands in comments."""
    environments = list(environments)
    text = "\n".join(
        ("" if number % _FLOATS or not number else "\\clearpage\n") + each.latex()
        for number, each in enumerate(environments)
    )
    packages = ["booktabs"]
    packages += ["array"] if "\\raggedright" in text else []
    packages += ["rotating"] if any(each.kind == "sidewaystable" for each in environments) else []
    notes = "".join(f"% not told: {printable(sentence)}\n" for sentence in missing)
    letters = OTHER_LETTERS if "\\otherletter" in text else ""
    return f"% needs \\usepackage{{{','.join(packages)}}}\n{notes}{letters}{text}"


def text_width(text: str, em: float) -> float:
    r"""About how wide a line of text is, in points; `em` is the size of the font.

    >>> round(text_width("0.38", em=8.5)), round(text_width("masterful", em=8.5))
    (16, 39)
    """
    letters = sum(_WIDTHS.get(letter, _OTHERS) for letter in text)
    lacking = sum(tex_any(letter) != tex(letter) for letter in text)  # pdfLaTeX prints their numbers
    return em / 1000 * (letters + 6 * _OTHERS * lacking)


def tex_line(cells: Iterable[str]) -> str:
    """A line of a tabular."""
    return f"{' & '.join(tex_any(printable(cell)) for cell in cells)} \\\\"


def to_latex(table: Table) -> str:
    """`table` environments for a document with booktabs (and array or rotating where they are named), none of them
    larger than a page; what is missing stands in comments."""
    return document_part(_Pages(table).environments(), table.missing)


class _Pages:
    """A table cut so that its parts fit pages."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns, self.rows = shown(table)
        self.titles = [column.title for column in self.columns]
        grid = zip(self.titles, *self.rows, strict=True)
        widths = [max(text_width(cell, _EM) for cell in cells) for cells in grid]
        self.broken = [
            column.kind == "text" and width > _TEXT for column, width in zip(self.columns, widths, strict=True)
        ]
        self.widths = [min(width, _TEXT) if long else width for width, long in zip(widths, self.broken, strict=True)]

    def environments(self) -> Iterator[Environment]:
        """Below one another all rows of some columns, then those of the next ones."""
        parts = self._parts()
        caption = f"{self.table.title}. {full_caption(self.table, self.rows)}"
        number = 0
        for columns in parts:
            sideways = len(parts) > 1 or self._across(columns) > _WIDTH
            rest = self.rows
            while True:
                said = f"{self.table.title}, continued." if number else caption
                count = self._fitting(rest, columns, said, sideways=sideways)
                number += 1
                yield Environment(
                    kind="sidewaystable" if sideways else "table",
                    name=self.table.name + (f"-{number}" if number > 1 else ""),
                    caption=said,
                    columns="".join(map(self._kind, columns)),
                    head=[tex_line(self.titles[index] for index in columns)],
                    body=[self._line(row, columns) for row in quiet(rest[:count])],
                    continued=number > 1,
                )
                rest = rest[count:]
                if not rest:
                    break

    def _parts(self) -> list[list[int]]:
        """Columns that fit beside each other: all of them, or what names the rows and as many figures as there is
        room for."""
        everything = list(range(len(self.columns)))
        if self._across(everything) <= _HEIGHT:
            return [everything]
        names = next(
            (index for index, column in enumerate(self.columns) if index > 1 and column.kind != "text"), len(everything)
        )
        while self._across(everything[:names]) > _HEIGHT / 2 and names > 2:
            names -= 1
        parts = [everything[:names]]
        for index in everything[names:]:
            if self._across([*parts[-1], index]) > _HEIGHT and len(parts[-1]) > names:
                parts.append(everything[:names])
            parts[-1] = [*parts[-1], index]
        return parts

    def _across(self, columns: Sequence[int]) -> float:
        return sum(self.widths[index] + 2 * SEPARATION for index in columns)

    def _fitting(self, rows: list[list[str]], columns: Sequence[int], caption: str, *, sideways: bool) -> int:
        """How many rows fit below such a caption; one at least."""
        across, down = (_HEIGHT, _WIDTH) if sideways else (_WIDTH, _HEIGHT)
        room = down - _AROUND - _LINE - _CAPTION_LINE * math.ceil(1.1 * text_width(caption, _CAPTION_EM) / across)
        used = 0.0
        for count, row in enumerate(rows):
            used += _LINE * max(self._lines(row[index], index) for index in columns)
            if used > room:
                return max(1, count)
        return len(rows)

    def _lines(self, cell: str, index: int) -> int:
        if not self.broken[index]:
            return 1
        # ragged lines are three quarters full or fuller
        return math.ceil(text_width(cell, _EM) / (0.75 * self.widths[index]))

    def _kind(self, index: int) -> str:
        if self.broken[index]:
            return f">{{\\raggedright\\arraybackslash}}p{{{self.widths[index]:.0f}pt}}"
        return "l" if self.columns[index].kind in ("text", "flag") else "r"

    def _line(self, row: list[str], columns: Sequence[int]) -> str:
        cells = [_breakable(row[index]) if self.broken[index] else tex_any(printable(row[index])) for index in columns]
        return f"{' & '.join(cells)} \\\\"


def _breakable(text: str) -> str:
    """Text in which words that are wider than their column may be broken after each letter."""
    pieces = re.split(r"(\s+)", printable(text))
    wide = [text_width(piece, _EM) > _TEXT for piece in pieces]
    return "".join(
        r"\allowbreak{}".join(map(tex_any, piece)) if is_wide else tex_any(piece)
        for piece, is_wide in zip(pieces, wide, strict=True)
    )
