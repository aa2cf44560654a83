"""The stages after evidence: tests that re-run the model, exact tests on evidence, and the verdict."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from heedful.adapters.subject import Subject
from heedful.audits.battery import BATTERY
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.audits.directory import Audit
from heedful.audits.given_importance import as_importance, values_of
from heedful.audits.texts_stage import Reader, rows_of
from heedful.evidence import Evidence, collect, read_metadata, scan
from heedful.evidence_checks import NO_LABEL
from heedful.experiments import EXPERIMENTS
from heedful.experiments.correlation import usual_top
from heedful.files import Parts, scan_parquet, write_json
from heedful.importance.table import attributions
from heedful.list_columns import list_column
from heedful.progress import Reporter
from heedful.ragged import Indices, Ragged
from heedful.randomness import sample
from heedful.verdict.rule import judge
from heedful.verdict.signals import scan_signals
from heedful.workspace.folder import Stage
from heedful.workspace.parts import StageParts

# texts and tokens of a part, which is what a kill can lose: of tests with many forward passes per text, and of others
COSTLY, CHEAP = (32, 1 << 12), (256, 1 << 15)
EXACT = (1024, 1 << 18)
ROWS = 4096  # instances whose signals are derived at a time


def battery_parts(audit: Audit, stage: Stage, subject: Subject) -> StageParts:
    """A test on the model: on the sample if it needs many forward passes per text, otherwise on all texts."""
    test, reader = BATTERY[stage.name], Reader(audit, subject)
    rows = sampled(audit) if test.costly else np.arange(len(reader.lengths))

    def part(start: int, stop: int) -> pl.DataFrame:
        ids, texts, labels = reader(rows[start:stop])
        given = _known(audit, stage, rows[start:stop])
        frame = test.perform(subject, ids, texts, subject.read(texts), seed=audit.options.seed, given=given)
        return _labelled(frame, labels)

    return _split(audit, stage, reader.lengths[rows], part, COSTLY if test.costly else CHEAP)


def importance_parts(audit: Audit, stage: Stage, subject: Subject) -> StageParts:
    """Importance on the sample, measured and from elsewhere."""
    measured = battery_parts(audit, stage, subject)
    rows = sampled(audit)

    def part(start: int, stop: int) -> pl.DataFrame:
        frame = measured.part(start, stop)
        if audit.options.importance is None:
            return frame
        both = pl.concat([frame, as_importance(audit, rows[start:stop])])
        order = pl.DataFrame({"id": frame["id"].unique(maintain_order=True)})
        return order.join(both, on="id", maintain_order="left_right")

    return replace(measured, part=part)


def attribution_parts(audit: Audit, stage: Stage, subject: Subject) -> StageParts:
    """The attribution of each item to the decision by every method, computed once for all tests that rank items."""
    reader, rows = Reader(audit, subject), sampled(audit)

    def part(start: int, stop: int) -> pl.DataFrame:
        ids, texts, _ = reader(rows[start:stop])
        found = attributions(SubjectTexts(subject, texts, subject.read(texts)))
        frames = [
            pl.DataFrame(
                {"row": rows[start:stop].astype(np.uint32), "id": ids, "method": name, "values": list_column(values)}
            ).cast({"values": pl.List(pl.Float64)})
            for name, values in found.items()
        ]
        return pl.concat(frames).sort("row", maintain_order=True)

    return _split(audit, stage, reader.lengths[rows], part, COSTLY)


def exact_parts(audit: Audit, stage: Stage) -> StageParts:
    """An experiment on all of the evidence."""
    lengths = _lengths(audit)

    def part(start: int, stop: int) -> pl.DataFrame:
        rows = np.arange(start, stop)
        options: dict[str, Any] = {"seed": audit.options.seed} if EXPERIMENTS[stage.name].random else {}
        if stage.name == "curves" and audit.options.importance is not None:
            options["importance"] = as_importance(audit, rows)
        return EXPERIMENTS[stage.name](_evidence(audit, rows), **options)

    return _split(audit, stage, lengths, part, EXACT)


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

    return _split(audit, stage, lengths[rows], part, EXACT)


def given_parts(audit: Audit, stage: Stage) -> StageParts:
    """Importance from elsewhere, where there is no model to measure it on."""
    lengths = _lengths(audit)
    return _split(audit, stage, lengths, lambda start, stop: as_importance(audit, np.arange(start, stop)), EXACT)


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


def _known(audit: Audit, stage: Stage, rows: Indices) -> dict[str, Ragged]:
    """Rankings that are known already: measured by an earlier stage, or from elsewhere."""
    if "given" not in BATTERY[stage.name].takes:
        return {}
    files = [audit.folder / name for name in ("attributions.parquet", "given.parquet")]
    return {name: values for file in files if file.exists() for name, values in values_of(file, rows).items()}


def _labelled(frame: pl.DataFrame, labels: Indices) -> pl.DataFrame:
    """A frame with the true classes in its column `label`, if it has one."""
    if "label" not in frame.columns:
        return frame
    column = pl.Series("label", labels, dtype=pl.Int32)
    return frame.with_columns(pl.when(column != NO_LABEL).then(column).alias("label"))
