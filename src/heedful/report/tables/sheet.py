"""A table for a paper of two columns: cut so that it fits a column, or the page's width where it is wider."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from heedful.report.tables.latex import SEPARATION, Environment, tex_line, text_width
from heedful.report.tables.table import UNKNOWN

# points: a column and the page of the ACL's style, 7.7 and 16 cm, and \footnotesize in its eleven points
COLUMN, PAGE = 219.0, 455.0
_EM = 9.25


class Block(NamedTuple):
    """Columns of one model, under one heading."""

    title: str
    columns: tuple[str, ...]


@dataclass
class Sheet:
    """A table before it is cut: the cells of each row by block and column; what is not there is not known."""

    name: str
    caption: str
    names: tuple[str, ...]  # titles of the columns that say what a row is about
    blocks: list[Block] = field(default_factory=list)
    cells: dict[tuple[str, ...], dict[Block, dict[str, str]]] = field(default_factory=dict)

    def write(self, row: tuple[str, ...], block: Block, cells: dict[str, str]) -> None:
        """Fill a row's cells in a block."""
        if block not in self.blocks:
            self.blocks.append(block)
        self.cells.setdefault(row, {}).setdefault(block, {}).update(cells)

    def environments(self) -> Iterator[Environment]:
        """One if all blocks fit, else as many as it takes."""
        firsts = [row[0] for row in self.cells]
        rows = sorted(self.cells, key=lambda row: firsts.index(row[0]))  # those about the same stand together
        for number, (blocks, width) in enumerate(self._pieces(), start=1):
            having = [row for row in rows if any(block in self.cells[row] for block in blocks)]
            columns = [(block, column) for block in blocks for column in block.columns]
            figures = [[self.cells[row].get(block, {}).get(name, UNKNOWN) for block, name in columns] for row in having]
            yield Environment(
                kind="table" if width <= COLUMN else "table*",
                name=self.name + (f"-{number}" if number > 1 else ""),
                caption=self.caption,
                columns="l" * len(self.names) + "r" * len(columns),
                head=self._head(blocks),
                body=[tex_line((*row, *cells)) for row, cells in zip(_quiet(having), figures, strict=True)],
            )

    def _pieces(self) -> Iterator[tuple[list[Block], float]]:
        """Blocks that fit beside each other, and how wide they are with the names of their rows."""
        names = sum(map(_column_width, zip(self.names, *self.cells, strict=True)))
        taken: list[Block] = []
        width = names
        for block in self.blocks:
            if taken and width + self._width(block) > PAGE:
                yield taken, width
                taken, width = [], names
            taken, width = [*taken, block], width + self._width(block)
        if taken:
            yield taken, width

    def _width(self, block: Block) -> float:
        own = [cells[block] for cells in self.cells.values() if block in cells]
        columns = sum(_column_width([name, *(cells.get(name, UNKNOWN) for cells in own)]) for name in block.columns)
        return max(columns, _column_width([block.title]))

    def _head(self, blocks: Sequence[Block]) -> list[str]:
        """Models above their columns, with a rule between."""
        titles = tex_line((*self.names, *(column for block in blocks for column in block.columns)))
        if not any(block.title for block in blocks):
            return [titles]
        above, rules, at = [], [], len(self.names) + 1
        for block in blocks:
            end = at + len(block.columns) - 1
            title = tex_line([block.title]).removesuffix(r" \\")
            above.append(f"\\multicolumn{{{len(block.columns)}}}{{c}}{{{title}}}")
            rules.append(f"\\cmidrule(lr){{{at}-{end}}}" if block.title else "")
            at = end + 1
        return [f"{'& ' * len(self.names)}{' & '.join(above)} \\\\", "".join(rules), titles]


def _column_width(cells: Iterable[str]) -> float:
    return max(text_width(cell, _EM) for cell in cells) + 2 * SEPARATION


def _quiet(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """What rows are about first, only where it changes."""
    before = [("",), *rows]
    return [("", *row[1:]) if row[0] == last[0] else row for row, last in zip(rows, before, strict=False)]
