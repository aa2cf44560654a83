import csv
import re
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from heedful.report.tables.formats import to_csv, to_markdown, to_rich, write_tables
from heedful.report.tables.latex import to_latex
from heedful.report.tables.layout import CORPUS, MODEL, estimate, number, published
from heedful.report.tables.table import Column, Table

HOSTILE = [
    "a|b",
    "a\nb",
    "\\",
    "a & b",
    "<script>alert(1)</script>",
    "=cmd()",
    "+1",
    "@x",
    "50% #1 $x_{y}^~",
    "[1]",
    "中",
]


def _table(*names: str) -> Table:
    columns = (
        CORPUS,
        MODEL,
        Column("decided", "decided | by", meaning="A class."),
        number("n", "n", "How many."),
        *estimate("tau", "tau", "A figure."),
        published("tau", "The paper's."),
    )
    rows = tuple(("planted", name, name, 1234, 1 / 3, 0.3, 0.4, 0.5) for name in names)
    return Table("t", "A & B", "About 95 % of _it_.", columns, rows, tuple(f"{name}: gone" for name in names), names)


def _latex_cells(line: str) -> list[str]:
    return re.split(r"(?<!\\)&", line.removesuffix(r"\\"))


def _balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@given(st.lists(st.text(min_size=1, max_size=20) | st.sampled_from(HOSTILE), min_size=1, max_size=5))
def test_any_text_leaves_every_format_whole(names: list[str]) -> None:
    table = _table(*names)
    read = list(csv.reader(StringIO(to_csv(table))))
    assert [len(row) for row in read] == [len(table.columns) + 1] * (len(names) + 1)
    assert to_csv(table).count("\n") == len(names) + 1
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for row in read for cell in row)
    assert [float(row[4]) for row in read[1:]] == [1 / 3] * len(names)
    marked = [line for line in to_markdown(table).splitlines() if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)\|", re.sub(r"\\\\", "", line))) for line in marked] == [7] * (len(names) + 2)
    latex = to_latex(table)
    code = "\n".join(line for line in latex.splitlines() if not line.startswith(("%", "\\providecommand")))
    plain = code.replace("\\\\", "")
    assert _balanced(plain)
    body = code.split("\\midrule\n")[1].split("\n\\bottomrule")[0].splitlines()
    assert [len(_latex_cells(line)) for line in body] == [6] * len(names)
    assert not re.search(r"(?<!\\)[#%_]", plain.split("\\midrule")[1].split("\\bottomrule")[0])
    assert not any(letter > "\u017f" for letter in re.sub(r"\\otherletter\{.\}\{U\+[0-9A-F]+\}", "", code))


@pytest.mark.parametrize(("name", "marked"), [("a|b", r"a\|b"), ("a\nb", r"a\\nb"), ("<script>", "&lt;script&gt;")])
def test_markdown_is_escaped(name: str, marked: str) -> None:
    assert f"| {marked} |" in to_markdown(_table(name))
    assert "0.33 [0.30, 0.40]" in to_markdown(_table(name))


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("a & b", r"a \& b"),
        ("\\", r"\textbackslash{}"),
        ("50% #1 $x_{y}^~", r"50\% \#1 \$x\_\{y\}\textasciicircum{}\textasciitilde{}"),
        ("[1]", "{[}1{]}"),  # a row that begins so would be an option of the line before
        ("中", r"\otherletter{中}{U+4E2D}"),
    ],
)
def test_latex_is_escaped(name: str, latex: str) -> None:
    written = to_latex(_table(name))
    assert f"& {latex} & 1,234" in written
    assert ("\\providecommand\\otherletter" in written) == (name == "中")


def test_latex_is_a_complete_table() -> None:
    written = to_latex(_table("x"))
    assert written.startswith("% needs \\usepackage{booktabs}\n% not told: x: gone\n\\begin{table}")
    assert r"\begin{tabular}{@{}lllrrr@{}}" in written
    assert r"\caption{A \& B. About 95 \% of \_it\_.}" in written
    assert "\n\\label{tab:t}\n" in written
    for part in ("table", "tabular"):
        assert written.count(f"\\begin{{{part}}}") == written.count(f"\\end{{{part}}}") == 1


def test_numbers_in_csv_are_whole_and_formulas_are_text() -> None:
    rows = list(csv.DictReader(StringIO(to_csv(_table("=cmd()", " -1")))))
    assert rows[0]["decided"] == rows[0]["run"] == "'=cmd()"
    assert rows[1]["decided"] == "' -1"
    assert rows[0]["tau"] == repr(1 / 3)


def _printed(table: Table, width: int) -> str:
    console = Console(width=width, file=StringIO(), record=True)
    console.print(to_rich(table, width=width))
    return console.export_text()


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_figure_is_cut_in_the_terminal(width: int) -> None:
    printed = _printed(_table("a long name of a class " * 3, "short"), width)
    assert "\u2026" not in printed
    assert max(map(len, printed.splitlines())) <= width
    text = "".join(printed.split())
    for figure in ("0.33", "0.30", "0.40", "0.50", "1,234"):
        assert figure in text


def test_names_are_broken_after_hyphens_only() -> None:
    printed = _printed(_table("planted-average-additive-0-05643461 of a-run-with-a-long-name"), 60)
    pieces = {"planted-", "average-", "additive-", "0-", "05643461", "of", "a-", "run-", "with-", "long-", "name"}
    text = printed.replace("-", "- ").split()
    assert pieces <= set(text)


def test_a_wide_table_has_the_papers_figures_below_ours() -> None:
    printed = _printed(_table("a long name of a class " * 3), 60)
    lines = [line.split() for line in printed.splitlines()]
    where = next(index for index, line in enumerate(lines) if line and line[-1] == "0.33")
    assert lines[where + 1][-2:] == ["[0.30,", "0.40]"]
    assert lines[where + 2][-1] == "(0.50)"
    assert "(0.50)" not in _printed(_table("x"), 100)


def test_a_table_without_rows_has_its_titles_still() -> None:
    assert "tau" in _printed(_table(), 20)
    assert to_csv(_table()).startswith("corpus,model,decided,n,tau,tau_low,tau_high,paper_tau,run\n")
    assert _balanced(to_latex(_table()))
    assert to_markdown(_table()).startswith("## A &amp; B\n")


def test_what_several_runs_lack_is_told_once() -> None:
    printed = _printed(_table("x", "y"), 100)
    assert "2 runs: gone" in printed
    assert "x: gone" in _printed(_table("x"), 100)


def test_files_are_written_in_every_format(tmp_path: Path) -> None:
    written = write_tables([_table("x")], tmp_path / "tables")
    assert [path.name for path in written] == ["t.csv", "t.md", "t.tex"]
    assert written[0].read_text() == to_csv(_table("x"))
    assert sorted(tmp_path.rglob("*.*")) == sorted(written)
