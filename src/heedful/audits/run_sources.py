"""A finished run as what is audited: its model, and the test texts with the tokens, classes and truth it had."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from heedful.adapters.trained import Trained, written
from heedful.audits.text_sources import Row, Source
from heedful.corpora.rationales import Rationale, Rationales
from heedful.evidence import Evidence, read_batches, scan
from heedful.integrity import content_fingerprint
from heedful.runs.directory import Run
from heedful.runs.plausibility import MarkedTable, marked_items

BATCH = 512  # instances in memory at a time


def run_subject(run: Run) -> Trained:
    """The model of a run."""
    run.require("evidence")
    return Trained(run.model(), run.vocabulary, run.classes, name=run.folder.resolve().name, run=run.config.name)


def run_source(run: Run) -> Source:
    """The test texts of a run, from its evidence."""
    evidence = run.folder / "evidence.parquet"
    truth = "truth" in scan(evidence).collect_schema()
    name = f"{run.corpus_label} (test texts)"
    return Source(name, partial(_rows, run), content_fingerprint(evidence), names=run.classes, truth=truth)


def labelled(run: Run) -> bool:
    """Whether the classes of the test texts are known."""
    return "label" in scan(run.folder / "evidence.parquet").collect_schema()


def run_rationales(run: Run, rationales: Path | str) -> Rationales:
    """The words that people marked in the texts of a run on a table, as flags of the run's own tokens."""
    marked = MarkedTable.of(run.config, rationales, None)

    def rows() -> Iterator[Rationale]:
        for batch in read_batches(run.folder / "evidence.parquet", BATCH):
            spans = marked.spans(set(batch.ids))
            words = batch.tokens if batch.words is None else batch.words
            flags = marked_items(words, batch.ids, spans)
            for row, name in enumerate(batch.ids):
                if name in spans:
                    where = f"{marked.rationales.name}, text '{name}'"
                    yield Rationale(where, name, flags[row].astype(int).tolist(), words[row].tolist())

    return Rationales(marked.rationales.name, marked.rationales.fingerprint, rows)


def _rows(run: Run) -> Iterator[Row]:
    evidence = run.folder / "evidence.parquet"
    classes, number = run.classes, 0
    for batch in read_batches(evidence, BATCH):
        for row, name in enumerate(batch.ids):
            number += 1
            label = -1 if batch.labels is None else int(batch.labels[row])
            truth = None if batch.truth is None else batch.truth[row].tolist()
            where = f"{evidence}, instance {number}"
            yield Row(where, name, _text(batch, row), None if label < 0 else classes[label], truth)


def _text(batch: Evidence, row: int) -> str:
    words: list[str] = (batch.tokens if batch.words is None else batch.words)[row].tolist()
    sentences = [words]
    if batch.words is not None and batch.sentences is not None:
        left = iter(words)
        sentences = [[next(left) for _ in range(length)] for length in batch.sentences[row].tolist()]
    query = None if batch.query is None else batch.query[row].tolist()
    candidates = None if batch.candidates is None else batch.candidates[row].tolist()
    return written(sentences, query, candidates)
