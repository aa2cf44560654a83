"""The stages after evidence: tests that re-run the model, exact tests on evidence, and the verdict."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from heedful.adapters.subject import Subject
from heedful.audits.battery import BATTERY
from heedful.audits.directory import Audit
from heedful.audits.given_importance import as_importance, given_values
from heedful.audits.plan import PLAUSIBILITY
from heedful.audits.rationales_stage import Marked
from heedful.audits.texts_stage import Reader
from heedful.evidence import Evidence, collect, decision_counts, read_metadata, scan
from heedful.evidence_checks import NO_LABEL
from heedful.experiments import EXPERIMENTS
from heedful.experiments.correlation import usual_top
from heedful.experiments.plausibility import plausibility
from heedful.files import Parts, atomic, row_count, rows_of, scan_parquet, sink_parquet, write_json
from heedful.list_columns import ragged_column
from heedful.progress import Reporter
from heedful.ragged import Indices, Ragged
from heedful.verdict.rule import judge
from heedful.verdict.signals import ROUNDING, scan_signals
from heedful.workspace.folder import Stage
from heedful.workspace.parts import StageParts

# texts and tokens of a part, which is what a kill can lose: of tests on the model, and of experiments on evidence
BATTERY_PART, EXACT_PART = (32, 1 << 12), (1024, 1 << 18)
ROWS = 4096  # instances whose signals are derived at a time


def battery_parts(audit: Audit, stage: Stage, subject: Subject, rows: Indices) -> StageParts:
    """A test on the model, on the texts of these rows."""
    test, reader = BATTERY[stage.name], Reader(audit, subject)
    known = _Rankings(audit, rows) if "given" in test.takes else None

    def part(start: int, stop: int) -> pl.DataFrame:
        ids, texts, labels = reader(rows[start:stop])
        given = None if known is None else known(start, stop)
        seen = subject.read_and_keep(texts) if test.at_attention else subject.read(texts)
        options = audit.options
        frame = test.perform(subject, ids, texts, seen, seed=options.seed, given=given, full=options.full)
        return _labelled(frame, labels)

    return _split(audit, stage, reader.lengths[rows], part, BATTERY_PART)


def importance_parts(audit: Audit, stage: Stage, subject: Subject, rows: Indices) -> StageParts:
    """Importance for the texts of these rows, measured and from elsewhere."""
    measured = battery_parts(audit, stage, subject, rows)

    def part(start: int, stop: int) -> pl.DataFrame:
        frame = measured.part(start, stop)
        if audit.options.importance is None:
            return frame
        both = pl.concat([frame, as_importance(audit, rows[start:stop])], how="diagonal")
        order = pl.DataFrame({"id": frame["id"].unique(maintain_order=True)})
        return order.join(both, on="id", maintain_order="left_right")

    return replace(measured, part=part)


def exact_parts(audit: Audit, stage: Stage) -> StageParts:
    """An experiment on all of the evidence."""
    read = _evidence_reader(audit)

    def part(start: int, stop: int) -> pl.DataFrame:
        rows = np.arange(start, stop)
        options: dict[str, Any] = {"seed": audit.options.seed} if EXPERIMENTS[stage.name].random else {}
        if stage.name == "curves" and audit.options.importance is not None:
            options["importance"] = as_importance(audit, rows)
        return EXPERIMENTS[stage.name](read(rows), **options)

    return _split(audit, stage, _lengths(audit), part, EXACT_PART)


def correlation_parts(audit: Audit, stage: Stage, rows: Indices) -> StageParts:
    """Attention against importance, for the instances of these rows, whose importance was measured."""
    read, importance, lengths = _evidence_reader(audit), _importance_reader(audit, len(rows)), _lengths(audit)
    top = usual_top(float(lengths.mean()))

    def part(start: int, stop: int) -> pl.DataFrame:
        return EXPERIMENTS["correlation"](read(rows[start:stop]), importance(start, stop), top=top)

    return _split(audit, stage, lengths[rows], part, EXACT_PART)


def given_parts(audit: Audit, stage: Stage) -> StageParts:
    """Importance from elsewhere, where there is no model to measure it on."""
    lengths = _lengths(audit)
    return _split(audit, stage, lengths, lambda start, stop: as_importance(audit, np.arange(start, stop)), EXACT_PART)


def plausibility_parts(audit: Audit, stage: Stage, rows: Indices) -> StageParts:
    """Attention and other rankings against the words that people marked, for the instances of these rows."""
    read, lengths, marked = _evidence_reader(audit), _lengths(audit), Marked(audit)
    model = audit.options.route != "evidence"
    known = _Rankings(audit, rows) if model else None

    def part(start: int, stop: int) -> pl.DataFrame:
        some = rows[start:stop]
        evidence = read(some)
        rankings = known(start, stop) if known is not None else _given(audit, some)
        flags = marked(some, evidence.tokens)
        return plausibility(evidence.ids, evidence.weights, flags, rankings, seed=audit.options.seed)

    return _split(audit, stage, lengths[rows], part, EXACT_PART)


def attributions_in(importance: pl.DataFrame) -> dict[str, Ragged]:
    """The attributions (N,) of a table of importance, by measure."""
    groups = importance.filter(pl.col("attribution").is_not_null()).partition_by("measure", as_dict=True)
    return {str(name): ragged_column(rows, "attribution", "doubles", "importance") for (name,), rows in groups.items()}


def write_signals(audit: Audit, rows: Indices, reporter: Reporter) -> None:
    """Write signals.parquet: one row per instance that was tested; `rows`: the sample."""
    total = audit.manifest["data"]["texts"]
    tests = [name for name in audit.tests if name != PLAUSIBILITY]  # what people think is no sign of faithfulness
    frames = {name: scan_parquet(audit.folder / audit.manifest["stages"][name]["file"]) for name in tests}
    rounding = audit.manifest.get("contract", {}).get("rounding", ROUNDING)  # of the model's precision
    everywhere = {name for name, frame in frames.items() if row_count(frame) == total}
    reporter.start("signals", total)
    parts = Parts(audit.folder / "signals.parquet")
    parts.discard()
    for start in range(0, total, ROWS):
        stop = min(start + ROWS, total)
        first, end = np.searchsorted(rows, [start, stop]).tolist()
        some = {name: (start, stop) if name in everywhere else (first, end) for name in frames}
        tested = {name: frames[name].slice(low, high - low) for name, (low, high) in some.items()}
        parts.add(scan_signals(tested, rounding=rounding))
        reporter.reach(stop)
    parts.finish()
    reporter.finish(f"{total:,} instances")


def write_verdict(audit: Audit, reporter: Reporter) -> None:
    """Write verdict.json, and the answers for single instances to a table beside it."""
    reporter.start("verdict")
    verdict = judge(
        scan_parquet(audit.folder / "signals.parquet"),
        classes=audit.options.model.classes,
        population=decision_counts(audit.folder / "evidence.parquet"),
    )
    sink_parquet(audit.folder / "instances.parquet", verdict.table)
    plain = verdict.table.with_columns(pl.col("reasons").list.join("; "))
    with atomic(audit.folder / "instances.csv") as temporary:
        plain.sink_csv(temporary)
    write_json(audit.folder / "verdict.json", verdict.to_json())
    reporter.finish(verdict.answer)


def _split(audit: Audit, stage: Stage, lengths: Indices, part: Any, size: tuple[int, int]) -> StageParts:
    return StageParts.split(
        stage.name.replace("_", " "),
        lengths,
        part,
        rows=size[0],
        items=size[1],
        metadata={"audit": audit.folder.name, "test": stage.name},
        summary=lambda: f"{len(lengths):,} texts",
    )


def _evidence_reader(audit: Audit) -> Callable[[Indices], Evidence]:
    """Reads the instances of the given rows, in ascending order."""
    path = audit.folder / "evidence.parquet"
    table, about = scan(path), read_metadata(path)
    return lambda rows: Evidence.from_frame(rows_of(table, rows), about, str(path))


def _importance_reader(audit: Audit, total: int) -> Callable[[int, int], pl.DataFrame]:
    """Reads the importance of the instances from `start` to `stop` of the `total` that it was measured for."""
    table = scan_parquet(audit.folder / "importance.parquet")
    each = row_count(table) // total  # rows of an instance: one for each measure and output
    return lambda start, stop: table.slice(start * each, (stop - start) * each).collect()


def _lengths(audit: Audit) -> Indices:
    return _column(audit, pl.col("tokens").list.len()).to_numpy().astype(np.int64)


def _column(audit: Audit, column: pl.Expr) -> pl.Series:
    path = audit.folder / "evidence.parquet"
    return collect(scan(path).select(column), path).to_series()


class _Rankings:
    """Rankings of sampled texts that are known already: measured by the stage `importance`, or from elsewhere."""

    def __init__(self, audit: Audit, rows: Indices) -> None:
        self.audit, self.rows = audit, rows
        measured = (audit.folder / "importance.parquet").exists()
        self.importance = _importance_reader(audit, len(rows)) if measured else None

    def __call__(self, start: int, stop: int) -> dict[str, Ragged]:
        """The values (N,) of the texts from `start` to `stop` of the sample, by ranking."""
        known = _given(self.audit, self.rows[start:stop])
        return known if self.importance is None else known | attributions_in(self.importance(start, stop))


def _given(audit: Audit, rows: Indices) -> dict[str, Ragged]:
    """The values (N,) of importance from elsewhere for ascending rows, by method."""
    return {} if audit.options.importance is None else given_values(audit, rows)


def _labelled(frame: pl.DataFrame, labels: Indices) -> pl.DataFrame:
    """A frame with the true classes in its column `label`, if it has one."""
    if "label" not in frame.columns:
        return frame
    column = pl.Series("label", labels, dtype=pl.Int32)
    return frame.with_columns(pl.when(column != NO_LABEL).then(column).alias("label"))
