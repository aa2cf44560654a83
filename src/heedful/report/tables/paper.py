"""The tables of Jain & Wallace 2019 and Serrano & Smith 2019 in the papers' own layouts, as LaTeX for two columns.

Rows are corpora, columns models. Runs that differ only in the seed are one figure, with its deviation over seeds.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heedful.errors import NotFound
from heedful.files import write_text
from heedful.findings.configurations import Configuration, configurations
from heedful.findings.gathering import AuditedRun
from heedful.findings.over_seeds import OverSeeds, rows_over_seeds
from heedful.findings.table_rows import ALL, corpus_rows, correlation_rows, flip_rows, ranking_rows
from heedful.report.tables.latex import document_part
from heedful.report.tables.sheet import Block, Sheet
from heedful.report.tables.table import UNKNOWN
from heedful.runs.directory import Run

_CORPORA = {  # in the papers' order
    **{"sst": "SST", "imdb": "IMDB", "adr": "ADR", "newsgroups": "20 News", "agnews": "AG News"},
    **{"mimic-diabetes": "Diabetes", "mimic-anemia": "Anemia", "cnn": "CNN"},
    **{"babi-1": "bAbI 1", "babi-2": "bAbI 2", "babi-3": "bAbI 3", "snli": "SNLI"},
    **{"yahoo": "Yahoo", "imdb-ratings": "IMDB (10)", "amazon": "Amazon", "yelp": "Yelp"},
}
_ENCODERS = {"bilstm": "BiLSTM", "bigru": "BiGRU", "cnn": "CNN", "average": "Average", "none": "None"}
_SHOWN = (("gradient", "bilstm"), ("gradient", "average"), ("leave-one-out", "bilstm"))  # in Table 2 of the paper
_RANKINGS = {"random": "Random", "attention": "Att.", "gradient": "Grad.", "gradient x attention": "Grad.\u00d7att."}


class Group(NamedTuple):
    """Configurations of one table."""

    suffix: str  # of the table's name; empty for the papers' own kind
    kind: str  # what all of its models share, for captions
    configurations: list[Configuration]

    @property
    def deviation(self) -> str:
        """What a caption says of seeds; nothing where there is one of each."""
        counts = sorted({len(each.runs) for each in self.configurations})
        if counts[-1] == 1:
            return ""
        span = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        return f" Mean ± std. dev. over {span} seeds."


def write_paper_tables(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Each table as `<name>.tex`, and `preview.tex`, a document of two columns that shows all; what was written."""
    sheets = paper_sheets(runs)
    if not sheets:
        raise NotFound(
            "--latex paper: the papers' tables are of runs of `heedful run` with test results, and none of these is; "
            "the other tables are there without it"
        )
    written = []
    for sheet in sheets:
        written.append(folder / f"{sheet.name}.tex")
        write_text(written[-1], document_part(sheet.environments()))
    written.append(folder / "preview.tex")
    write_text(written[-1], PREVIEW.replace("TABLES", "\n".join(f"\\input{{{sheet.name}}}" for sheet in sheets)))
    return written


def paper_sheets(runs: Sequence[Run]) -> list[Sheet]:
    """The papers' tables of some runs that have rows; audits, of models trained elsewhere, are left out."""
    known = configurations([run for run in runs if not isinstance(run, AuditedRun)])
    order = list(_CORPORA)
    known.sort(key=lambda each: order.index(each.config.corpus) if each.config.corpus in order else len(order))
    groups = _groups(known)
    return [sheet for table in (_corpora, _correlation, _flips, _zeroed) for sheet in map(table, groups) if sheet.cells]


def _groups(known: Sequence[Configuration]) -> list[Group]:
    """Models of one attention and one preset; those of Serrano & Smith, which read sentences, by themselves."""
    groups: dict[tuple[bool, str, str], list[Configuration]] = {}
    for each in known:
        documents = each.config.model != "classifier"
        groups.setdefault((documents, each.config.attention, each.config.preset), []).append(each)
    found = []
    for (documents, attention, preset), some in groups.items():
        rare = ["documents"] * documents + [attention] * (attention != "additive") + [preset] * (preset != "paper")
        found.append(Group("".join(f"-{word}" for word in rare), f"{attention} attention", some))
    return found


def _corpora(group: Group) -> Sheet:
    """Table 1 of Jain & Wallace 2019; models are beside each other."""
    metrics: dict[str, str] = {}  # of each corpus
    sheet = Sheet(f"jain-wallace-1{group.suffix}", "", ("Dataset",))
    about = Block("", ("|V|", "Length", "Train size", "Test size"))
    for each in group.configurations:
        names = ("metric", "train", "test")
        figures = ("vocabulary", "mean_length", "performance")
        for row in rows_over_seeds(each, "evidence", corpus_rows, about=names, figures=figures):
            sizes = (_number(row.figures, "vocabulary", "{:.0f}"), _number(row.figures, "mean_length", "{:.0f}"))
            cells = (*sizes, *(str(row.about[name]) for name in names[1:]))
            sheet.write(_row(each), about, dict(zip(about.columns, cells, strict=True)))
            metrics[_row(each)[0]] = str(row.about["metric"])
            sheet.write(_row(each), Block(_model(each), ("Score",)), {"Score": _cell(row.figures, "performance", 3)})
    said = _metrics(metrics)
    sheet.caption = f"Datasets and test performance ({said}; {group.kind}). Sizes by class where few.{group.deviation}"
    return sheet


def _metrics(metrics: dict[str, str]) -> str:
    """The metric of most corpora, and which others have another."""
    usual = max(dict.fromkeys(metrics.values()), key=list(metrics.values()).count, default="")
    others = [f"{metric} for {corpus}" for corpus, metric in metrics.items() if metric != usual]
    return "; ".join([usual, *others])


def _correlation(group: Group) -> Sheet:
    """Table 2 of Jain & Wallace 2019: the paper's models first, then others."""
    over = group.deviation or " Mean ± std. dev. over instances."
    caption = (
        f"Kendall's τ of attention and feature importance ({group.kind}), and the fraction of instances in which it is "
        f"significant (p ≤ 0.05), by predicted class.{over}"
    )
    sheet = Sheet(f"jain-wallace-2{group.suffix}", caption, ("Dataset", "Class"))
    found: dict[tuple[str, Configuration], list[tuple[str, dict[str, str]]]] = {}
    for each in group.configurations:
        figures = ("tau", "tau_std", "significant")
        rows = rows_over_seeds(each, "correlation", correlation_rows, about=("importance", "decided"), figures=figures)
        classes = {row.about["decided"] for row in rows} - {ALL}
        for row in rows:
            if row.about["decided"] == ALL and classes:
                continue
            tau, within = _cell(row.figures, "tau", 2), row.figures.get("tau_std")
            if not group.deviation and within is not None:
                tau = f"{tau}±{within.mean:.2f}"
            cells = {"Mean": tau, "Sig. frac.": _cell(row.figures, "significant", 2)}
            found.setdefault((str(row.about["importance"]), each), []).append((str(row.about["decided"]), cells))
    keys = sorted(found, key=lambda key: _SHOWN.index(_shown(key)) if _shown(key) in _SHOWN else len(_SHOWN))
    for measure, each in keys:
        block = Block(f"{measure.capitalize()} ({_model(each)})", ("Mean", "Sig. frac."))
        for decided, cells in found[measure, each]:
            sheet.write((*_row(each), decided), block, cells)
    return sheet


def _shown(key: tuple[str, Configuration]) -> tuple[str, str]:
    return key[0], key[1].config.encoder


def _flips(group: Group) -> Sheet:
    """Table 2 of Serrano & Smith 2019 and those like it: two lines a corpus."""
    caption = (
        "Percent of test instances by whether zeroing the highest attention weight (rows) and zeroing a random other "
        f"one (columns) flips the decision ({group.kind}).{group.deviation}"
    )
    sheet = Sheet(f"serrano-smith-flips{group.suffix}", caption, ("Dataset", "Highest"))
    lines = {"flips": ("both", "top_only"), "does not": ("rival_only", "neither")}
    for each in group.configurations:
        figures = ("both", "top_only", "rival_only", "neither")
        rows = rows_over_seeds(each, "single_weight", flip_rows, about=("ranking", "rival"), figures=figures)
        for row in rows:
            if (row.about["ranking"], row.about["rival"]) == ("attention", "drawn"):
                block = Block(_model(each), ("flips", "does not"))
                for line, names in lines.items():
                    cells = (_cell(row.figures, name, 1, scale=100) for name in names)
                    sheet.write((*_row(each), line), block, dict(zip(block.columns, cells, strict=True)))
    return sheet


def _zeroed(group: Group) -> Sheet:
    """What Serrano & Smith 2019 draw as boxes (section 5), in numbers."""
    caption = (
        f"Fraction of attention weights zeroed until the decision flips, by order of zeroing ({group.kind}); "
        f"decisions that never flip are left out.{group.deviation}"
    )
    sheet = Sheet(f"serrano-smith-zeroed{group.suffix}", caption, ("Dataset",))
    for each in group.configurations:
        block = Block(_model(each), tuple(_RANKINGS.values()))
        for row in rows_over_seeds(each, "removal", ranking_rows, about=("ranking",), figures=("fraction",)):
            ranking = str(row.about["ranking"])
            if ranking in _RANKINGS:
                sheet.write(_row(each), block, {_RANKINGS[ranking]: _cell(row.figures, "fraction", 2)})
    return sheet


def _row(configuration: Configuration) -> tuple[str]:
    """The corpus as papers write it, and what else tells it from the others of its model."""
    name, run = configuration.config.corpus, configuration.runs[0]
    corpus = _CORPORA.get(name, name) + configuration.corpus.removeprefix(name)
    details = configuration.model.removeprefix(run.model_label).split(", ")
    details = [detail for detail in details if detail not in ("", configuration.config.preset)]
    return (f"{corpus} ({', '.join(details)})" if details else corpus,)


def _model(configuration: Configuration) -> str:
    config = configuration.config
    encoder = _ENCODERS.get(config.encoder, config.encoder)
    return encoder if config.model == "classifier" else f"{config.model.upper()}, {encoder}"


def _cell(figures: dict[str, OverSeeds], name: str, digits: int, *, scale: float = 1) -> str:
    """The mean over seeds and its deviation, if there are several."""
    figure = figures.get(name)
    if figure is None:
        return UNKNOWN
    mean = f"{round(scale * figure.mean, digits) + 0.0:.{digits}f}"
    return mean if figure.std is None else f"{mean}±{scale * figure.std:.{digits}f}"


def _number(figures: dict[str, OverSeeds], name: str, form: str) -> str:
    return form.format(figures[name].mean) if name in figures else UNKNOWN


# the ACL's page, without its style, which not everyone has
PREVIEW = r"""\documentclass[11pt,twocolumn]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\setlength{\textwidth}{16cm}
\setlength{\columnsep}{0.6cm}
\setlength{\textheight}{24.7cm}
\setlength{\oddsidemargin}{-0.04cm}
\setlength{\topmargin}{-1.5cm}
\begin{document}
TABLES
\clearpage
\end{document}
"""
