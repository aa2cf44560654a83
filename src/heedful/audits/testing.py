"""The tests of an audit, part by part: by reading texts again, or exactly where evidence tells all that is needed."""

from inspect import signature
from typing import Any

import numpy as np
import polars as pl

from heedful.adapters.subject import Subject
from heedful.audits.battery import BATTERY
from heedful.audits.directory import Audit
from heedful.audits.given import as_importance, given_of
from heedful.audits.parting import pieces
from heedful.audits.plan import Stage
from heedful.audits.reading import Reader, rows_of
from heedful.evidence import Evidence, collect, read_metadata, scan
from heedful.experiments import EXPERIMENTS
from heedful.files import scan_parquet
from heedful.ragged import Indices
from heedful.runs.parted import Parted
from heedful.runs.sampling import sample
from heedful.validation import NO_LABEL

# texts and tokens of a part, which a kill loses at most: of tests that read a text many times, and of others
COSTLY, CHEAP = (8, 1 << 11), (256, 1 << 15)
EXACT = (1024, 1 << 18)


def battery_parts(audit: Audit, stage: Stage, subject: Subject) -> Parted:
    """A test of the battery: on all texts, or on the sample where it reads each of them many times."""
    test, reader = BATTERY[stage.name], Reader(audit, subject)
    rows = sampled(audit) if test.costly else np.arange(len(reader.lengths))

    def part(start: int, stop: int) -> pl.DataFrame:
        ids, texts, labels = reader(rows[start:stop])
        given = given_of(audit, rows[start:stop])
        frame = test.perform(subject, ids, texts, subject.read(texts), seed=audit.options.seed, given=given)
        return _labelled(frame, labels)

    each, tokens = COSTLY if test.costly else CHEAP
    return _parted(audit, stage, reader.lengths[rows], part, (each, tokens))


def exact_parts(audit: Audit, stage: Stage) -> Parted:
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


def correlation_parts(audit: Audit, stage: Stage) -> Parted:
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


def given_parts(audit: Audit, stage: Stage) -> Parted:
    """Importance where there is no model: that from elsewhere."""
    lengths = _lengths(audit)
    return _parted(audit, stage, lengths, lambda start, stop: as_importance(audit, np.arange(start, stop)), EXACT)


def sampled(audit: Audit) -> Indices:
    """The rows of the costly tests."""
    return sample(_ids(audit), audit.options.sample, audit.options.seed)


def _parted(audit: Audit, stage: Stage, lengths: Indices, part: Any, size: tuple[int, int]) -> Parted:
    cuts = pieces(lengths, rows=size[0], items=size[1])
    return Parted(
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


def _labelled(frame: pl.DataFrame, labels: Indices) -> pl.DataFrame:
    """A frame with the true classes, if it is one that tells them; the model does not know them."""
    if "label" not in frame.columns:
        return frame
    column = pl.Series("label", labels, dtype=pl.Int32)
    return frame.with_columns(pl.when(column != NO_LABEL).then(column).alias("label"))
