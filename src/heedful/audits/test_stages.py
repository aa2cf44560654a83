"""The stages after evidence: tests that re-run the model, exact tests on evidence, and the verdict."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from heedful.adapters.subject import Subject
from heedful.audits.battery import BATTERY
from heedful.audits.directory import Audit
from heedful.audits.given_importance import as_importance, values_of
from heedful.audits.texts_stage import Reader, rows_of
from heedful.evidence import Evidence, collect, read_metadata, scan
from heedful.evidence_checks import NO_LABEL
from heedful.experiments import EXPERIMENTS
from heedful.experiments.correlation import usual_top
from heedful.files import Parts, scan_parquet, write_json
from heedful.list_columns import ragged_column
from heedful.progress import Reporter
from heedful.ragged import Indices, Ragged
from heedful.randomness import sample
from heedful.verdict.rule import judge
from heedful.verdict.signals import scan_signals
from heedful.workspace.folder import Stage
from heedful.workspace.parts import StageParts

# texts and tokens of a part, which is what a kill can lose: of tests on the model, and of experiments on evidence
BATTERY_PART, EXACT_PART = (32, 1 << 12), (1024, 1 << 18)
ROWS = 4096  # instances whose signals are derived at a time


def battery_parts(audit: Audit, stage: Stage, subject: Subject) -> StageParts:
    """A test on the model, on the sampled texts."""
    test, reader, rows = BATTERY[stage.name], Reader(audit, subject), sampled(audit)

    def part(start: int, stop: int) -> pl.DataFrame:
        ids, texts, labels = reader(rows[start:stop])
        given = _rankings(audit, ids, rows[start:stop]) if "given" in test.takes else None
        seen = subject.read_and_keep(texts) if test.at_attention else subject.read(texts)
        options = audit.options
        frame = test.perform(subject, ids, texts, seen, seed=options.seed, given=given, full=options.full)
        return _labelled(frame, labels)

    return _split(audit, stage, reader.lengths[rows], part, BATTERY_PART)


def importance_parts(audit: Audit, stage: Stage, subject: Subject) -> StageParts:
    """Importance on the sample, measured and from elsewhere."""
    measured = battery_parts(audit, stage, subject)
    rows = sampled(audit)

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
    lengths = _lengths(audit)

    def part(start: int, stop: int) -> pl.DataFrame:
        rows = np.arange(start, stop)
        options: dict[str, Any] = {"seed": audit.options.seed} if EXPERIMENTS[stage.name].random else {}
        if stage.name == "curves" and audit.options.importance is not None:
            options["importance"] = as_importance(audit, rows)
        return EXPERIMENTS[stage.name](_evidence(audit, rows), **options)

    return _split(audit, stage, lengths, part, EXACT_PART)


def correlation_parts(audit: Audit, stage: Stage) -> StageParts:
    """Attention against importance, for the instances whose importance was measured."""
    table = scan_parquet(audit.folder / "importance.parquet")
    lengths = _lengths(audit)
    top = usual_top(float(lengths.mean()))
    measured = set(table.select("id").unique().collect()["id"])
    rows = np.flatnonzero([name in measured for name in _column(audit, pl.col("id"))])

    def part(start: int, stop: int) -> pl.DataFrame:
        evidence = _evidence(audit, rows[start:stop])
        importance = table.filter(pl.col("id").is_in(list(evidence.ids))).collect()
        return EXPERIMENTS["correlation"](evidence, importance, top=top)

    return _split(audit, stage, lengths[rows], part, EXACT_PART)


def given_parts(audit: Audit, stage: Stage) -> StageParts:
    """Importance from elsewhere, where there is no model to measure it on."""
    lengths = _lengths(audit)
    return _split(audit, stage, lengths, lambda start, stop: as_importance(audit, np.arange(start, stop)), EXACT_PART)


def attributions_in(importance: pl.DataFrame) -> dict[str, Ragged]:
    """The attributions (N,) of a table of importance, by measure."""
    groups = importance.filter(pl.col("attribution").is_not_null()).partition_by("measure", as_dict=True)
    return {str(name): ragged_column(rows, "attribution", "doubles", "importance") for (name,), rows in groups.items()}


def sampled(audit: Audit) -> Indices:
    """The rows of the sample for costly tests."""
    return sample(_column(audit, pl.col("id")), audit.options.sample, audit.options.seed)


def write_signals(audit: Audit, reporter: Reporter) -> None:
    """Write signals.parquet: one row per instance."""
    ids = _column(audit, pl.col("id"))
    frames = {name: scan_parquet(audit.folder / audit.manifest["stages"][name]["file"]) for name in audit.tests}
    reporter.start("signals", len(ids))
    parts = Parts(audit.folder / "signals.parquet")
    parts.discard()
    for start in range(0, len(ids), ROWS):
        parts.add(scan_signals(frames, ids[start : start + ROWS]))
        reporter.reach(min(start + ROWS, len(ids)))
    parts.finish()
    reporter.finish(f"{len(ids):,} instances")


def write_verdict(audit: Audit, reporter: Reporter) -> None:
    """Write verdict.json."""
    reporter.start("verdict")
    verdict = judge(scan_parquet(audit.folder / "signals.parquet").collect(), seed=audit.options.seed)
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


def _evidence(audit: Audit, rows: Indices) -> Evidence:
    """The instances of the given rows, in ascending order."""
    path = audit.folder / "evidence.parquet"
    return Evidence.from_frame(rows_of(scan(path), rows), read_metadata(path), str(path))


def _lengths(audit: Audit) -> Indices:
    return _column(audit, pl.col("tokens").list.len()).to_numpy().astype(np.int64)


def _column(audit: Audit, column: pl.Expr) -> pl.Series:
    path = audit.folder / "evidence.parquet"
    return collect(scan(path).select(column), path).to_series()


def _rankings(audit: Audit, ids: Sequence[str], rows: Indices) -> dict[str, Ragged]:
    """Rankings of sampled texts that are known already: measured by the stage `importance`, or from elsewhere."""
    path, given = audit.folder / "importance.parquet", audit.folder / "given.parquet"
    known = values_of(given, rows) if given.exists() else {}
    if path.exists():
        known |= attributions_in(scan_parquet(path).filter(pl.col("id").is_in(list(ids))).collect())
    return known


def _labelled(frame: pl.DataFrame, labels: Indices) -> pl.DataFrame:
    """A frame with the true classes in its column `label`, if it has one."""
    if "label" not in frame.columns:
        return frame
    column = pl.Series("label", labels, dtype=pl.Int32)
    return frame.with_columns(pl.when(column != NO_LABEL).then(column).alias("label"))
