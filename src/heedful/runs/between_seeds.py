"""How much attention varies between runs that differ only in the seed."""

from collections.abc import Iterator, Sequence
from itertools import combinations, zip_longest
from typing import Any, NamedTuple

import polars as pl

from heedful.errors import BadInput
from heedful.evidence import Evidence, collect, read_metadata, scan
from heedful.experiments.agreement import agreement
from heedful.experiments.summary import estimates
from heedful.runs.catalogue import configuration_of
from heedful.runs.directory import Run

BATCH = 512  # instances of each run in memory at a time
_READ = ("id", "tokens", "weights", "output")
_FIGURES = ("jsd", "tvd", "same")


class Between(NamedTuple):
    """Differences between runs on the same instances."""

    pairs: pl.DataFrame  # one row per pair of runs
    instances: pl.DataFrame  # one row per instance: means over all pairs


def by_configuration(runs: Sequence[Run]) -> list[list[Run]]:
    """Group runs that differ only in the seed, by ascending seed; groups are in the order of their first runs."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(configuration_of(run.config), []).append(run)
    return [sorted(group, key=lambda run: run.config.seed) for group in groups.values()]


def between(runs: Sequence[Run], *, seed: int = 0, draws: int = 2000) -> Between:
    """Compare the attention of every pair of runs on the same instances, in memory that does not grow with them.

    `pairs`: `first` and `second` (folder names), the means of `jsd` of attention, `tvd` of outputs and `same`, the
    share of equal decisions, with 95 % intervals over instances (`<figure>_low`, `<figure>_high`), and `n`.
    `instances`: `id` and the means of the three over all pairs. Runs whose instances or items differ are refused.
    """
    if len(runs) < 2:
        raise BadInput(f"{len(runs)} run given: comparing attention between seeds takes at least two")
    numbers = list(combinations(range(len(runs)), 2))
    parts: list[list[pl.DataFrame]] = [[] for _ in numbers]
    ids: list[str] = []
    for batches in zip_longest(*map(_batches, runs)):
        ids += batches[0].ids if batches[0] is not None else ()
        for part, (first, second) in zip(parts, numbers, strict=True):
            compared = _agreement(runs[first], batches[first], runs[second], batches[second])
            part.append(compared.select(_FIGURES))
    rows: list[dict[str, Any]] = []
    frames = [pl.concat(part) for part in parts]
    for frame, (first, second) in zip(frames, numbers, strict=True):
        rows.append({"first": runs[first].folder.name, "second": runs[second].folder.name, "n": len(frame)})
        for name, estimate in estimates(frame, seed=seed, draws=draws).items():
            rows[-1] |= estimate.columns(name)
    means = (pl.mean_horizontal(frame[name].cast(pl.Float64) for frame in frames).alias(name) for name in _FIGURES)
    instances = pl.DataFrame({"id": pl.Series(ids, dtype=pl.String)}).with_columns(means)
    return Between(pl.DataFrame(rows, infer_schema_length=None), instances)


def _agreement(one: Run, first: Evidence | None, other: Run, second: Evidence | None) -> pl.DataFrame:
    names = f"{one.folder.name} and {other.folder.name}"
    if first is None or second is None:
        raise BadInput(f"{names}: one has more instances than the other; compare runs on the same test split")
    try:
        return agreement(first, second)
    except BadInput as error:
        raise BadInput(f"{names}: {error}") from error


def _batches(run: Run) -> Iterator[Evidence]:
    """The evidence of a run without scores, which take most of its memory."""
    run.require("evidence")
    path = run.folder / "evidence.parquet"
    frame = scan(path).select(_READ)
    about = {name: value for name, value in read_metadata(path).items() if name == "classes"}
    total = collect(frame.select(pl.len()), path).item()
    for start in range(0, max(1, total), BATCH):
        yield Evidence.from_frame(collect(frame.slice(start, BATCH), path), about, str(path))
