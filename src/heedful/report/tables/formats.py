"""Tables as CSV, Markdown and LaTeX, and in the terminal. Text is data: it is escaped everywhere."""

import csv
import re
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

from heedful.files import write_text
from heedful.printable import printable
from heedful.report.latex import OTHER_LETTERS, tex_any
from heedful.report.tables.shown import full_caption, quiet, shown
from heedful.report.tables.table import Table, Value
from heedful.report.tables.terminal import to_rich

__all__ = ["to_csv", "to_latex", "to_markdown", "to_rich", "write_tables"]

_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # what spreadsheets compute, given as text; also in full width


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


def to_latex(table: Table) -> str:
    """A `table` environment for a document with booktabs; what is missing stands in comments."""
    columns, rows = shown(table)
    kinds = "".join("l" if column.kind in ("text", "flag") else "r" for column in columns)
    body = "".join(f"{line}\n" for line in (_tex_line(row) for row in quiet(rows)))
    text = (
        "\\begin{table}\n\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}\n"
        f"\\caption{{{tex_any(f'{table.title}. {full_caption(table, rows)}')}}}\n\\label{{tab:{table.name}}}\n"
        f"\\begin{{tabular}}{{@{{}}{kinds}@{{}}}}\n\\toprule\n"
        f"{_tex_line([column.title for column in columns])}\n\\midrule\n{body}\\bottomrule\n"
        "\\end{tabular}\n\\end{table}\n"
    )
    notes = "".join(f"% not told: {printable(sentence)}\n" for sentence in table.missing)
    return f"% needs \\usepackage{{booktabs}}\n{notes}" + (OTHER_LETTERS if "\\otherletter" in text else "") + text


def _tex_line(cells: Iterable[str]) -> str:
    return " & ".join(tex_any(printable(cell)) for cell in cells) + r" \\"
