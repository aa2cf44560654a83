"""The attention of a run on a table against the words that people marked in its texts; no verdict reads this."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from heedful.corpora.locating import data_folders
from heedful.corpora.rationales import (
    Rationale,
    Rationales,
    column_rationales,
    file_rationales,
    marked_spans,
    unknown_id,
)
from heedful.corpora.readers.table import Table, TableOptions
from heedful.corpora.tabular import Located
from heedful.errors import BadConfig, BadInput, NotFound
from heedful.evidence import Evidence, read_batches
from heedful.experiments.correlation import measure_values
from heedful.experiments.plausibility import plausibility
from heedful.experiments.plausibility_summary import Plausibility, plausibility_summary
from heedful.files import row_count, scan_parquet, write_parquet
from heedful.progress import Reporter
from heedful.ragged import Ragged
from heedful.runs.config import RunConfig
from heedful.runs.directory import PLAUSIBILITY, STAGES, Run
from heedful.text.alignment import Span, items_in

INSTANCES = 1024  # in memory at a time


@dataclass(frozen=True)
class MarkedTable:
    """A table of texts and the rationales of some of them."""

    path: Path
    options: TableOptions
    rationales: Rationales

    @classmethod
    def of(cls, config: RunConfig, rationales: Path | str, data: Path | str | None) -> "MarkedTable":
        """Rationales from a file or, if there is no such file, from a column of the run's table."""
        if config.corpus != "table":
            raise BadConfig(
                f"rationales = {rationales}: only for corpus `table` (your own texts), not for {config.corpus}; leave "
                "it out"
            )
        options = TableOptions(**config.corpus_options)
        path = Table().find(data_folders(None if data is None else Path(data)), options, subset=False).files["table"]
        if Path(rationales).is_file():
            return cls(path, options, file_rationales(Path(rationales)))
        there = Table().columns(path, options)
        if str(rationales) not in there:
            raise NotFound(
                f"rationales '{rationales}': no such file or column of {path}, which has: {', '.join(there)}; give a "
                "file with the columns id and spans or rationale"
            )
        cells = partial(_cells, path, options)
        return cls(path, options, column_rationales(str(path), str(rationales), cells, columns=there, id=options.id))

    @property
    def facts(self) -> dict[str, str]:
        """What tells these rationales from others."""
        return {"name": self.rationales.name, "fingerprint": self.rationales.fingerprint}

    def spans(self, ids: set[str]) -> dict[str, tuple[str, list[Span]]]:
        """Text and marked characters of those of these instances that have a rationale; all rationales are checked."""
        given: dict[str, Rationale] = {}
        for rationale in self.rationales.rows():
            if rationale.id in given:
                raise BadInput(f"{rationale.where}: a second rationale of text '{rationale.id}'; give one per text")
            given[rationale.id] = rationale
        found: dict[str, tuple[str, list[Span]]] = {}
        for name, text in self._texts():
            marked = given.pop(name, None)
            spans = None if marked is None else marked_spans(marked, text)
            if spans is not None and name in ids:
                found[name] = text, spans
        for left in given.values():
            raise unknown_id(left)
        return found

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Id and text of every row of the table; tokens are joined by spaces."""
        columns = [self.options.text, *([] if self.options.id is None else [self.options.id])]
        for number, (_, (text, *name)) in enumerate(_cells(self.path, self.options, columns), start=1):
            yield str(name[0]) if name else f"row-{number}", _joined(text)


def _cells(path: Path, options: TableOptions, columns: list[str]) -> Iterator[Located]:
    return Table().cells(path, columns, options)


def write_plausibility(run: Run, marked: MarkedTable, reporter: Reporter) -> None:
    """Write results/plausibility.parquet: one row per test instance, null where it has no rationale."""
    reporter.start("plausibility")
    evidence = run.folder / "evidence.parquet"
    ids = scan_parquet(evidence).select("id").collect()["id"]
    spans = marked.spans(set(ids))
    importance = scan_parquet(run.folder / "importance.parquet")
    each = row_count(importance) // len(ids)  # rows of an instance
    frames, done = [], 0
    for batch in read_batches(evidence, INSTANCES):
        measured = importance.slice(done * each, len(batch) * each).collect()
        rankings = measure_values(batch, measured, batch.decisions)
        frames.append(plausibility(batch.ids, batch.weights, _flags(batch, spans), rankings, seed=run.config.seed))
        done += len(batch)
    write_parquet(run.folder / STAGES[PLAUSIBILITY].file, pl.concat(frames), {"run": run.folder.name})
    run.record(rationales=marked.facts)
    reporter.finish(f"rationales of {len(spans):,} of {len(ids):,} test texts")


def plausibility_of(run: Run) -> Plausibility | None:
    """The comparison in short; None where no rationales were given."""
    if not run.done(PLAUSIBILITY):
        return None
    return plausibility_summary(run.results(PLAUSIBILITY), seed=run.config.seed)


def marked_items(words: Ragged, ids: Sequence[str], spans: dict[str, tuple[str, list[Span]]]) -> Ragged:
    """Which words of these instances people marked, (N,); none where there is no rationale."""
    flags = words.like(np.zeros(len(words.values), dtype=np.bool_))
    for row, name in enumerate(ids):
        if name in spans:
            inside = items_in(spans[name][0], words[row].tolist(), spans[name][1])
            if inside is not None:
                flags[row][:] = inside
    return flags


def _flags(batch: Evidence, spans: dict[str, tuple[str, list[Span]]]) -> Ragged:
    """Which items people marked, (N,); a sentence is marked if a word of it is."""
    flags = marked_items(batch.tokens if batch.words is None else batch.words, batch.ids, spans)
    if batch.words is None or batch.sentences is None:
        return flags
    return batch.tokens.like(Ragged.from_lengths(flags.values, batch.sentences.values).sum() > 0)


def _joined(value: Any) -> str:
    """A text, or tokens, or sentences of tokens."""
    return " ".join(map(_joined, value)) if isinstance(value, list) else str(value)
