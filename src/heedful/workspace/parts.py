"""Stages made part by part: a killed one resumes at the first missing part, and workers can share the parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from heedful.files import Parts
from heedful.progress import Reporter
from heedful.ragged import Indices

Piece = tuple[int, int]  # first instance of a part, and the one after its last


@dataclass(frozen=True)
class StageParts:
    """The parts of a stage."""

    title: str
    pieces: Sequence[Piece]
    steps: Sequence[int]  # of progress, for each part
    part: Callable[[int, int], pl.DataFrame]  # makes the part of a piece
    metadata: Mapping[str, str]  # of the merged file
    summary: Callable[[], str]  # of the merged file, in a few words
    unit: str = ""  # of the steps, if they are not instances
    enough: Callable[[Sequence[pl.DataFrame]], bool] | None = None  # whether the first parts make the others needless
    merged: Callable[[pl.LazyFrame], pl.LazyFrame] | None = None  # the file from the parts; None: one after the other

    @classmethod
    def split(
        cls,
        title: str,
        lengths: Indices,
        part: Callable[[int, int], pl.DataFrame],
        *,
        rows: int | None = None,
        items: int | None = None,
        metadata: Mapping[str, str],
        summary: Callable[[], str],
        unit: str = "",
    ) -> "StageParts":
        """Split instances of these `lengths` as `split_instances` does; the steps are items."""
        pieces = split_instances(lengths, rows=rows, items=items)
        steps = [int(lengths[start:stop].sum()) for start, stop in pieces]
        return cls(title, pieces, steps, part, metadata, summary, unit)


def split_instances(lengths: Indices, *, rows: int | None = None, items: int | None = None) -> list[Piece]:
    """Split consecutive instances into pieces of at most `rows` instances and `items` items, but at least one instance.

    >>> import numpy as np
    >>> split_instances(np.array([5, 5, 1, 20]), rows=3, items=10)
    [(0, 2), (2, 3), (3, 4)]
    """
    pieces, start, held = [], 0, 0
    for stop, length in enumerate(lengths.tolist()):
        full = (rows is not None and stop - start >= rows) or (items is not None and held + length > items)
        if stop > start and full:
            pieces.append((start, stop))
            start, held = stop, 0
        held += length
    return [*pieces, (start, len(lengths))]


def perform_parts(
    path: Path,
    stage: StageParts,
    reporter: Reporter,
    *,
    share: Callable[[dict[int, Piece]], Iterator[int]] | None = None,
    at_once: int = 1,
    on_part: Callable[[int], None] | None = None,
) -> None:
    """Make the parts of a stage that are missing, and merge all of them into the file `path`.

    `share` lets workers write several parts, and yields the index of each when it is written; `on_part` is called after
    each part with the number of its instances. Of a stage that may have `enough`, only `at_once` parts are made before
    it is asked; which parts are merged does not depend on their number.
    """
    parts = Parts(path)
    _discard_others(parts, stage)
    missing = {index: piece for index, piece in enumerate(stage.pieces) if not parts.has(index)}
    done = sum(steps for index, steps in enumerate(stage.steps) if index not in missing)
    reporter.start(stage.title, sum(stage.steps))
    if done:
        reporter.reach(done)  # the time left is estimated from here on
    count, parts.done = len(stage.pieces), 0
    while parts.done < count:
        stop = count if stage.enough is None else min(parts.done + at_once, count)
        some = {index: piece for index, piece in missing.items() if parts.done <= index < stop}
        written = share(some) if share is not None and len(some) > 1 else _write(parts, stage, some)
        for index in written:
            if on_part is not None:
                start, end = stage.pieces[index]
                on_part(end - start)
            done += stage.steps[index]
            reporter.reach(done, f"{done:,} {stage.unit}" if stage.unit else "")
        if _has_enough(parts, stage, stop):
            break
    parts.finish(stage.metadata, merged=None if stage.merged is None else stage.merged(parts.scan()))
    reporter.finish(stage.summary())


def _has_enough(parts: Parts, stage: StageParts, stop: int) -> bool:
    """Count the parts before `stop` as done, up to the first with which there is enough."""
    if stage.enough is None:
        parts.done = stop
        return True
    frames = [parts.read(index) for index in range(parts.done)]
    while parts.done < stop:
        frames.append(parts.read(parts.done))
        parts.done += 1
        if stage.enough(frames):
            return True
    return False


def _discard_others(parts: Parts, stage: StageParts) -> None:
    """Discard the parts of a stage that an earlier version began with parts of another size."""
    if stage.enough is not None and parts.has(0):
        start, stop = stage.pieces[0]
        if len(parts.read(0)) != stop - start:
            parts.discard()


def _write(parts: Parts, stage: StageParts, missing: dict[int, Piece]) -> Iterator[int]:
    for index, piece in missing.items():
        parts.put(index, stage.part(*piece))
        yield index
