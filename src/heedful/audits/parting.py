"""Stages made part by part: what a kill leaves is kept, and what is done is told."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from heedful.audits.directory import Audit
from heedful.audits.plan import Stage
from heedful.files import Parts
from heedful.ragged import Indices
from heedful.runs.execution import peak_memory
from heedful.runs.parted import Parted
from heedful.runs.reporter import Reporter


class Counter(Protocol):
    """Something that knows how many texts were read so far."""

    readings: int


def perform_parts(audit: Audit, stage: Stage, parted: Parted, reporter: Reporter, counter: Counter) -> None:
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
