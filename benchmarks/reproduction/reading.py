"""What the parts of the page read: the runs in the order of the papers, and tables by run and key."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from heedful.report.tables import TABLES, Table
from heedful.runs.directory import Run

CORPORA = {
    "sst": "SST",
    "imdb": "IMDB",
    "newsgroups": "20 Newsgroups",
    "agnews": "AG News",
    "babi-1": "bAbI 1",
    "babi-2": "bAbI 2",
    "babi-3": "bAbI 3",
    "snli": "SNLI",
    "yahoo": "Yahoo",
    "imdb-ratings": "IMDB ratings",
    "amazon": "Amazon",
    "yelp": "Yelp",
}
ENCODERS = {"bilstm": "BiLSTM", "bigru": "GRU", "cnn": "CNN", "average": "Average", "none": "no encoder"}
_MODELS = ("classifier", "han", "flan")


class Record(NamedTuple):
    """A row of a table: whose it is, its values, and the same as people read them."""

    run: Run
    values: dict[str, Any]
    cells: dict[str, str]


def in_order(runs: Sequence[Run]) -> list[Run]:
    """By model, corpus, encoder and seed, as the papers have them."""
    corpora, encoders = list(CORPORA), list(ENCODERS)
    return sorted(
        (run for run in runs if run.config.corpus in CORPORA),
        key=lambda run: (
            _MODELS.index(run.config.model) if run.config.model in _MODELS else len(_MODELS),
            corpora.index(run.config.corpus),
            encoders.index(run.config.encoder),
            run.config.seed,
        ),
    )


def records(name: str, runs: Sequence[Run]) -> list[Record]:
    """The rows of a table of the report."""
    table: Table = TABLES[name](runs)
    keys = [column.key for column in table.columns]
    return [
        Record(runs[position], dict(zip(keys, row, strict=True)), dict(zip(keys, cells, strict=True)))
        for position, row, cells in zip(table.positions, table.rows, table.formatted, strict=True)
    ]


def corpus_name(run: Run) -> str:
    """As the papers call it."""
    return CORPORA[run.config.corpus] + (" (subset)" if run.manifest["corpus"]["subset"] else "")


def model_name(run: Run) -> str:
    """As the papers call it."""
    encoder = ENCODERS[run.config.encoder]
    return encoder if run.config.model == "classifier" else f"{run.config.model.upper()}, {encoder}"
