"""The tests of an audit, part by part: by reading texts again, or exactly where evidence tells all that is needed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from typing import Any, Protocol

import numpy as np
import polars as pl

from heedful.adapters.subject import Subject
from heedful.audits.battery import BATTERY
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.audits.directory import Audit
from heedful.audits.given_importance import as_importance, values_of
from heedful.audits.plan import Stage
from heedful.audits.texts_stage import Reader, rows_of
from heedful.evidence import Evidence, collect, read_metadata, scan
from heedful.evidence_checks import NO_LABEL
from heedful.experiments import EXPERIMENTS
from heedful.files import Parts, scan_parquet, write_json
from heedful.importance.table import attributions
from heedful.list_columns import list_column
from heedful.progress import Reporter
from heedful.ragged import Indices, Ragged
from heedful.randomness import sample
from heedful.verdict.rule import judge
from heedful.verdict.signals import signals
from heedful.workspace.environment import peak_memory
from heedful.workspace.parts import StageParts

ROWS = 4096  # instances at a time


def write_signals(audit: Audit, reporter: Reporter) -> None:
    """Write signals.parquet: one row an instance."""
    ids = scan_parquet(audit.folder / "evidence.parquet").select("id").collect()["id"]
    frames = {name: scan_parquet(audit.folder / audit.manifest["stages"][name]["file"]) for name in audit.tests}
    reporter.start("signals", len(ids))
    parts = Parts(audit.folder / "signals.parquet")
    parts.discard()
    for start in range(0, len(ids), ROWS):
        some = pl.col("id").is_in(ids[start : start + ROWS].implode())
        parts.add(signals({name: frame.filter(some).collect() for name, frame in frames.items()}))
        reporter.reach(min(start + ROWS, len(ids)))
    parts.finish()
    reporter.finish(f"{len(ids):,} instances")


def write_verdict(audit: Audit, reporter: Reporter) -> None:
    """Write verdict.json."""
    reporter.start("verdict")
    verdict = judge(scan_parquet(audit.folder / "signals.parquet").collect(), seed=audit.options.seed)
    write_json(audit.folder / "verdict.json", verdict.to_json())
    reporter.finish(verdict.answer)


class Counter(Protocol):
    """Something that knows how many texts were read so far."""

    readings: int


def perform_parts(audit: Audit, stage: Stage, parted: StageParts, reporter: Reporter, counter: Counter) -> None:
    """Make the parts of a stage that are not there yet, and merge them."""
    parts = Parts(audit.folder / stage.file)
    missing = {index: piece for index, piece in enumerate(parted.pieces) if not parts.has(index)}
    done = sum(steps for index, steps in enumerate(parted.steps) if index not in missing)
    reporter.start(parted.title, sum(parted.steps))
    if done:
        reporter.reach(done)  # so that the time left is told by what is done from here on
    for index, piece in missing.items():
        with costed(audit, stage, counter, instances=piece[1] - piece[0]):
            parts.put(index, parted.part(*piece))
        done += parted.steps[index]
        reporter.reach(done, f"{done:,} {parted.unit}" if parted.unit else "")
    parts.done = len(parted.pieces)
    parts.finish(parted.about)
    reporter.finish(parted.told())


@contextmanager
def costed(audit: Audit, stage: Stage, counter: Counter, *, instances: int = 0) -> Iterator[None]:
    """Add what the block costs to what the stage has cost so far, killed sessions included."""
    started, before = time.perf_counter(), counter.readings
    yield
    begun = audit.manifest.get("begun", {})
    cost = begun.get(stage.name, {"seconds": 0.0, "readings": 0, "instances": 0})
    cost = {
        "seconds": round(cost["seconds"] + time.perf_counter() - started, 3),
        "readings": cost["readings"] + counter.readings - before,
        "instances": cost["instances"] + instances,
        "peak_memory_mb": peak_memory(),
    }
    audit.record(begun={**begun, stage.name: cost})


def pieces(lengths: Indices, *, rows: int, items: int) -> list[tuple[int, int]]:
    """Where to cut instances into pieces of at most so many rows and items, one row at least."""
    found, start, held = [], 0, 0
    for stop, length in enumerate(lengths.tolist()):
        if stop > start and (stop - start >= rows or held + length > items):
            found.append((start, stop))
            start, held = stop, 0
        held += length
    return [*found, (start, len(lengths))]


# texts and tokens of a part, which a kill loses at most: of tests that read a text many times, and of others
COSTLY, CHEAP = (32, 1 << 12), (256, 1 << 15)
EXACT = (1024, 1 << 18)


def battery_parts(audit: Audit, stage: Stage, subject: Subject) -> StageParts:
    """A test of the battery: on all texts, or on the sample where it reads each of them many times."""
    test, reader = BATTERY[stage.name], Reader(audit, subject)
    rows = sampled(audit) if test.costly else np.arange(len(reader.lengths))

    def part(start: int, stop: int) -> pl.DataFrame:
        ids, texts, labels = reader(rows[start:stop])
        given = _known(audit, stage, rows[start:stop])
        frame = test.perform(subject, ids, texts, subject.read(texts), seed=audit.options.seed, given=given)
        return _labelled(frame, labels)

    return _parted(audit, stage, reader.lengths[rows], part, COSTLY if test.costly else CHEAP)


def importance_parts(audit: Audit, stage: Stage, subject: Subject) -> StageParts:
    """Importance on the sample, and that from elsewhere beside it."""
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
    """What each item says for the decision, by every method that is raced: measured once for all races."""
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

    return _parted(audit, stage, reader.lengths[rows], part, COSTLY)


def exact_parts(audit: Audit, stage: Stage) -> StageParts:
    """An experiment on all of the evidence."""
    lengths = _lengths(audit)

    def part(start: int, stop: int) -> pl.DataFrame:
        rows = np.arange(start, stop)
        options: dict[str, Any] = {}
        if "seed" in signature(EXPERIMENTS[stage.name]).parameters:
            options["seed"] = audit.options.seed
        if stage.name == "curves" and audit.options.importance is not None:
            options["importance"] = as_importance(audit, rows)
        return EXPERIMENTS[stage.name](_evidence(audit, rows), **options)

    return _parted(audit, stage, lengths, part, EXACT)


def correlation_parts(audit: Audit, stage: Stage) -> StageParts:
    """Attention against importance, for the instances whose importance was measured."""
    table = scan_parquet(audit.folder / "importance.parquet")
    lengths = _lengths(audit)
    measured = set(table.select("id").unique().collect()["id"])
    rows = np.flatnonzero([name in measured for name in _ids(audit)])
    top = max(10, int(0.1 * lengths.mean()))  # a tenth of a text, ten items at least, as in runs

    def part(start: int, stop: int) -> pl.DataFrame:
        evidence = _evidence(audit, rows[start:stop])
        importance = table.filter(pl.col("id").is_in(list(evidence.ids))).collect()
        return EXPERIMENTS["correlation"](evidence, importance, top=top)

    return _parted(audit, stage, lengths[rows], part, EXACT)


def given_parts(audit: Audit, stage: Stage) -> StageParts:
    """Importance where there is no model: that from elsewhere."""
    lengths = _lengths(audit)
    return _parted(audit, stage, lengths, lambda start, stop: as_importance(audit, np.arange(start, stop)), EXACT)


def sampled(audit: Audit) -> Indices:
    """The rows of the costly tests."""
    return sample(_ids(audit), audit.options.sample, audit.options.seed)


def _parted(audit: Audit, stage: Stage, lengths: Indices, part: Any, size: tuple[int, int]) -> StageParts:
    cuts = pieces(lengths, rows=size[0], items=size[1])
    return StageParts(
        title=stage.name.replace("_", " "),
        pieces=cuts,
        steps=[int(lengths[start:stop].sum()) for start, stop in cuts],
        part=part,
        about={"audit": audit.folder.name, "test": stage.name},
        told=lambda: f"{len(lengths):,} texts",
    )


def _evidence(audit: Audit, rows: Indices) -> Evidence:
    """Some instances, rising."""
    path = audit.folder / "evidence.parquet"
    return Evidence.from_frame(rows_of(scan(path), rows), read_metadata(path), str(path))


def _ids(audit: Audit) -> list[str]:
    path = audit.folder / "evidence.parquet"
    return collect(scan(path).select("id"), path)["id"].to_list()


def _lengths(audit: Audit) -> Indices:
    path = audit.folder / "evidence.parquet"
    return collect(scan(path).select(pl.col("tokens").list.len()), path)["tokens"].to_numpy().astype(np.int64)


def _known(audit: Audit, stage: Stage, rows: Indices) -> dict[str, Ragged]:
    """Rankings that need not be measured again, and those from elsewhere."""
    if "given" not in BATTERY[stage.name].takes:
        return {}
    files = [audit.folder / name for name in ("attributions.parquet", "given.parquet")]
    return {name: values for file in files if file.exists() for name, values in values_of(file, rows).items()}


def _labelled(frame: pl.DataFrame, labels: Indices) -> pl.DataFrame:
    """A frame with the true classes, if it is one that tells them; the model does not know them."""
    if "label" not in frame.columns:
        return frame
    column = pl.Series("label", labels, dtype=pl.Int32)
    return frame.with_columns(pl.when(column != NO_LABEL).then(column).alias("label"))
