"""LaTeX tables as TeX sees them: they compile, and nothing reaches beyond its column or page."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from heedful.errors import HeedfulError
from heedful.findings.comparison import compare
from heedful.report.tables import tables
from heedful.report.tables.comparison import claims_table, figures_table
from heedful.report.tables.latex import text_width, to_latex
from heedful.report.tables.layout import CORPUS, MODEL, estimate
from heedful.report.tables.paper import write_paper_tables
from heedful.report.tables.sheet import COLUMN, Block, Sheet
from heedful.report.tables.table import Column, Table
from heedful.runs.directory import Run
from tests.cli.calling import heedful
from tests.report.seeded import run_as

EVERYTHING = ("correlation", "permutation", "adversary", "reach", "substitution", "violation", "single_weight")
ARTICLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{booktabs,array,rotating}
\begin{document}
TABLES
\clearpage
\end{document}
"""
TOO_LARGE = re.compile(r"^(Overfull \\hbox|Overfull \\vbox|LaTeX Warning: Float too large|!).*", re.MULTILINE)


def compiled(folder: Path, name: str) -> str:
    """What pdfLaTeX says of a document."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-base, texlive-latex-recommended)")
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / name).with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    return log


def complaints(folder: Path, latex: str) -> list[str]:
    """What pdfLaTeX finds too large in an ordinary article."""
    (folder / "all.tex").write_text(ARTICLE.replace("TABLES", latex), encoding="utf-8")
    return [found[0] for found in TOO_LARGE.finditer(compiled(folder, "all.tex"))]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Corpora of both papers, three seeds of most models, and a corpus of one's own with a long name."""
    folder = tmp_path_factory.mktemp("runs")
    kinds = [
        *({"corpus": corpus, "encoder": encoder} for corpus in ("sst", "imdb") for encoder in ("bilstm", "average")),
        {"corpus": "sst", "encoder": "cnn"},
        {"corpus": "yelp", "model": "han", "encoder": "bigru"},
        {"corpus": "yelp", "model": "flan", "encoder": "cnn"},
    ]
    made = [
        run_as(folder / f"{number}-{seed}", seed=seed, experiments=(*EVERYTHING, "removal"), **values)
        for number, values in enumerate(kinds)
        for seed in (0, 1, 2)
    ]
    other = {"corpus": "planted", "encoder": "bilstm", "corpus_options": {"length": 30}}
    return [*made, run_as(folder / "own", outputs=3, experiments=EVERYTHING, **other)]


def test_ordinary_tables_fit_a_page(runs: list[Run], tmp_path: Path) -> None:
    found = tables(runs)
    assert len(found) >= 10
    latex = "\\clearpage\n".join(to_latex(table) for table in found)
    assert "sidewaystable" in latex  # there are wide ones among them
    assert complaints(tmp_path, latex) == []


def test_comparisons_fit_a_page(runs: list[Run], tmp_path: Path) -> None:
    comparison = compare(runs)
    latex = to_latex(figures_table(comparison)) + "\\clearpage\n" + to_latex(claims_table(comparison))
    assert complaints(tmp_path, latex) == []


def test_awkward_tables_fit_a_page(tmp_path: Path) -> None:
    text = [Column(f"text-{number}", "a title", meaning="Text.") for number in range(4)]
    figures = [each for number in range(9) for each in estimate(f"f{number}", "a figure", "A figure.", std=True)]
    wide = ["a_word" * 30, "many words " * 20, "中" * 40, "WWWWWWWWWWWWWWW & %"]
    rows = [("planted", f"model {number}", *wide, *([0.25] * 36)) for number in range(50)]
    table = Table(
        "awkward", "A title", "A caption of some length. " * 12, (CORPUS, MODEL, *text, *figures), tuple(rows)
    )
    latex = to_latex(table)
    assert len(re.findall(r"\\begin\{sidewaystable\}", latex)) > 4  # columns and rows in parts
    assert complaints(tmp_path, latex) == []


def test_a_table_in_parts_has_every_cell_once() -> None:
    figures = [each for number in range(9) for each in estimate(f"f{number}", f"figure {number}", "A figure.")]
    rows = [
        ("planted", f"model {row}", *(row + (place // 3) / 100 for place in range(27))) for row in range(60)
    ]  # 12.03 [12.03, 12.03]
    latex = to_latex(Table("t", "A title", "A caption.", (CORPUS, MODEL, *figures), tuple(rows)))
    for row in range(60):
        for figure in range(9):
            value = f"{row + figure / 100:.2f}"
            assert latex.count(f" {value} {{[}}{value}, {value}{{]}}") == 1
    assert latex.count("addtocounter") == latex.count("continued.") == latex.count("\\caption") - 1
    labels = re.findall(r"\\label\{(.*?)\}", latex)
    assert len(labels) == len(set(labels)) == latex.count("\\caption")


def test_the_papers_tables_fit_their_columns(runs: list[Run], tmp_path: Path) -> None:
    written = write_paper_tables(runs, tmp_path)
    assert [path.name for path in written] == [
        "jain-wallace-1.tex",
        "jain-wallace-1-documents.tex",
        "jain-wallace-2.tex",
        "jain-wallace-2-documents.tex",
        "serrano-smith-flips.tex",
        "serrano-smith-flips-documents.tex",
        "serrano-smith-zeroed.tex",
        "serrano-smith-zeroed-documents.tex",
        "preview.tex",
    ]
    log = compiled(tmp_path, "preview.tex")
    assert [found[0] for found in TOO_LARGE.finditer(log)] == []


def _cells(path: Path) -> list[list[str]]:
    """The lines of a table's body."""
    body = path.read_text().split("\\midrule\n")[1].split("\\bottomrule")[0]
    return [[cell.strip() for cell in line.removesuffix(r" \\").split("&")] for line in body.splitlines()]


def test_rows_are_corpora_in_the_papers_order_and_figures_are_means_over_seeds(runs: list[Run], tmp_path: Path) -> None:
    write_paper_tables(runs[::-1], tmp_path)
    rows = _cells(tmp_path / "jain-wallace-2.tex")
    assert [row[:2] for row in rows] == [
        ["SST", "a"],
        ["", "b"],
        ["IMDB", "a"],
        ["", "b"],
        ["planted", "a"],
        ["", "b"],
        ["", "c"],
    ]
    text = (tmp_path / "jain-wallace-2.tex").read_text()
    heads = re.findall(r"\\multicolumn\{2\}\{c\}\{(.*?)\}", text)
    assert heads[:3] == ["Gradient (BiLSTM)", "Gradient (Average)", "Leave-one-out (BiLSTM)"]
    assert {"Gradient (CNN)", "Leave-one-out (CNN)", "Leave-one-out (Average)"} == set(heads[3:])
    own = [run for run in runs if (run.config.corpus, run.config.encoder) == ("sst", "bilstm")]
    means = []
    for run in own:
        frame = run.results("correlation")
        means.append(float(frame.filter(frame["decision"] == 0)["tau_attention_gradient"].mean()))  # type: ignore[arg-type]
    mean = sum(means) / 3
    std = (sum((each - mean) ** 2 for each in means) / 2) ** 0.5
    assert rows[0][2] == f"{mean:.2f}$\\pm${std:.2f}"
    assert "\\pm" not in rows[4][2]  # one seed
    assert "over 1 to 3 seeds" in text


def test_one_seed_has_the_deviation_over_instances_as_in_the_paper(runs: list[Run], tmp_path: Path) -> None:
    write_paper_tables(runs[:1], tmp_path)
    frame = runs[0].results("correlation")
    tau = frame.filter(frame["decision"] == 0)["tau_attention_gradient"].drop_nulls()
    assert _cells(tmp_path / "jain-wallace-2.tex")[0][2] == f"{tau.mean():.2f}$\\pm${tau.std(ddof=0):.2f}"
    assert "over instances" in (tmp_path / "jain-wallace-2.tex").read_text()
    assert "over instances" not in (tmp_path / "jain-wallace-1.tex").read_text()


def test_shares_of_flips_are_those_of_the_run(runs: list[Run], tmp_path: Path) -> None:
    write_paper_tables(runs[:1], tmp_path)
    (first, second) = _cells(tmp_path / "serrano-smith-flips.tex")
    assert (first[1], second[1]) == ("flips", "does not")
    frame = runs[0].results("single_weight")
    frame = frame.filter(frame["items"] > 1)
    top, rival = frame["attention_flips"], frame["attention_rival_flips"]
    shares = [100 * float(each.mean()) for each in (top & rival, top & ~rival, ~top & rival, ~top & ~rival)]  # type: ignore[arg-type]
    assert [*first[2:], *second[2:]] == [f"{share:.1f}" for share in shares]


def test_a_narrow_table_is_as_wide_as_a_column_and_a_wide_one_as_the_page() -> None:
    sheet = Sheet("t", "Caption.", ("Dataset",))
    sheet.write(("SST",), Block("A", ("x",)), {"x": "0.25"})
    assert [each.kind for each in sheet.environments()] == ["table"]
    for name in "BCDEFGHIJ":
        sheet.write(("SST",), Block(name, ("x", "y")), {"x": "0.25±0.01", "y": "0.25±0.01"})
    assert [each.kind for each in sheet.environments()] == ["table*", "table*", "table*"]
    assert [len(each.columns) for each in sheet.environments()] == [8, 9, 5]
    assert text_width("0.25", 9.25) < COLUMN


@pytest.mark.parametrize(
    "text", ["iiiiiiiiii", "0123456789", "MWMWMWMWMW", "masterful", "ABCDEFGHIJ", "0.38±0.19 [0.37, 0.39]"]
)
def test_text_is_estimated_no_narrower_than_it_is(text: str, tmp_path: Path) -> None:
    document = ARTICLE.replace(
        "TABLES", f"\\footnotesize\\settowidth{{\\dimen0}}{{{text.replace('±', chr(92) + 'pm')}}}"
    )
    document = document.replace("\\pm", "$\\pm$").replace("\\clearpage", "\\typeout{width \\the\\dimen0}x")
    (tmp_path / "one.tex").write_text(document, encoding="utf-8")
    width = re.search(r"width ([\d.]+)pt", compiled(tmp_path, "one.tex"))
    assert width is not None
    assert float(width[1]) <= text_width(text, 8.5) <= 1.6 * float(width[1])


def test_from_the_command_line(runs: list[Run], tmp_path: Path) -> None:
    answer = heedful("report", runs[0].folder, "--formats", "none", "--latex", "paper", "--out", tmp_path / "site")
    assert answer.code == 0, answer.err
    assert (tmp_path / "site" / "tables" / "paper" / "preview.tex").is_file()
    answer = heedful("report", runs[0].folder, "--latex", "papers", "--out", tmp_path / "other")
    assert answer.code == 2
    assert "unknown value of --latex 'papers'" in answer.err
    answer = heedful("compare", runs[0].folder, "--out", tmp_path / "x.tex")
    assert answer.code == 0, answer.err
    assert (tmp_path / "x.tex").read_text().count("\\caption") >= 2


def test_without_runs_that_have_results_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(HeedfulError, match="--latex paper: the papers' tables are of runs"):
        write_paper_tables([], tmp_path / "paper")
    assert list(tmp_path.iterdir()) == []
