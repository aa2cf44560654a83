"""As many texts as it takes: the stage `highlights` tests texts part by part until its verdict is determined.

Texts come in a seeded order, the decided classes in turn. After each part the rule is asked; its tests stay valid
however often one looks (heedful.verdict.inference). Every other test is performed on the texts that this stage chose.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from heedful.adapters.subject import Subject
from heedful.audits.battery import BATTERY
from heedful.audits.battery.highlights import donors_of
from heedful.audits.directory import Audit
from heedful.audits.given_importance import given_values
from heedful.audits.texts_stage import Reader
from heedful.evidence import decision_counts
from heedful.files import Parts, scan_parquet
from heedful.importance.highlights import donor_rows
from heedful.progress import Reporter
from heedful.ragged import Indices
from heedful.verdict.rule import determined
from heedful.verdict.signals import ROUNDING
from heedful.workspace.folder import Stage
from heedful.workspace.sample import AUTO, Population, drawn, ends, population, verdict_so_far


def sampled(audit: Audit) -> Indices:
    """The rows that were tested, rising. Without a model, tests are performed on all texts."""
    ids = _ids(audit, "evidence.parquet")
    if audit.options.route == "evidence":
        return np.arange(len(ids))
    return np.flatnonzero(np.isin(ids, _ids(audit, audit.manifest["stages"]["highlights"]["file"])))


class Session(NamedTuple):
    """What a session of work tells a stage, and what it is told."""

    until: float | None  # when to stop (`time.monotonic`)
    on_part: Callable[[int], None]  # called after each part with the number of its texts


def perform_highlights(audit: Audit, stage: Stage, subject: Subject, reporter: Reporter, session: Session) -> None:
    """Test texts until the verdict is determined, they are used up, or it is time."""
    evidence, options = audit.folder / "evidence.parquet", audit.options
    everyone, counts = population(evidence), decision_counts(evidence)
    rounding = audit.manifest.get("contract", {}).get("rounding", ROUNDING)
    rows, auto = drawn(everyone, options.sample, options.seed), options.sample == AUTO
    measure = _Measure(audit, subject, everyone)
    parts = Parts(audit.folder / stage.file)
    reporter.start("highlights", len(rows))
    frames: list[pl.DataFrame] = []  # of `auto`, which asks the rule after each part
    tested = done = 0
    answer = ""
    for index, stop in enumerate(ends(len(rows))):
        if not parts.has(index):
            if session.until is not None and time.monotonic() >= session.until:
                break
            parts.put(index, measure(np.sort(rows[tested:stop])))
            session.on_part(stop - tested)
        tested, done = stop, index + 1
        if auto:
            frames.append(parts.read(index))
            found = verdict_so_far(frames, classes=options.model.classes, population=counts, rounding=rounding)
            answer = found.answer
            if determined(found):
                break
        reporter.reach(stop, answer)
    if not done:
        parts.put(0, pl.DataFrame(schema={"id": pl.String}))
    parts.done = max(done, 1)
    place = pl.LazyFrame({"id": everyone.ids}).with_row_index("row")
    merged = parts.scan().join(place, on="id", how="left").sort("row").drop("row")
    parts.finish({"audit": audit.folder.name, "test": stage.name}, merged=merged)
    reporter.finish(f"{tested:,} of {len(everyone.ids):,} texts")


class _Measure:
    """The test `highlights` on some texts of an audit."""

    def __init__(self, audit: Audit, subject: Subject, everyone: Population) -> None:
        self.audit, self.subject, self.reader = audit, subject, Reader(audit, subject)
        rows = donor_rows(everyone.ids, everyone.decided, audit.options.seed)
        ids, texts, _ = self.reader(rows)
        self.donors = donors_of(subject, ids, texts, subject.read(texts), truth=self.reader.truth(rows))

    def __call__(self, rows: Indices) -> pl.DataFrame:
        """The frame of the texts of these rows, which rise."""
        audit, subject = self.audit, self.subject
        ids, texts, _ = self.reader(rows)
        given = None if audit.options.importance is None else given_values(audit, rows)
        seen, seed = subject.read_and_keep(texts), audit.options.seed
        known: dict[str, Any] = {"given": given, "donors": self.donors, "truth": self.reader.truth(rows)}
        return BATTERY["highlights"].perform(subject, ids, texts, seen, seed=seed, **known)


def _ids(audit: Audit, file: str) -> list[str]:
    ids: list[str] = scan_parquet(audit.folder / file).select("id").collect()["id"].to_list()
    return ids
