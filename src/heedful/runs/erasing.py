"""The stage of erasure, which needs evidence and the model. It goes on where it was killed."""

import numpy as np
import polars as pl

from heedful.evidence import collect, scan
from heedful.files import Parts
from heedful.importance.erasure import erasure
from heedful.nested import ragged
from heedful.ragged import Indices
from heedful.randomness import Stream, keys
from heedful.runs.directory import STAGES, Run
from heedful.runs.experimenting import told
from heedful.runs.naming import ERASURE
from heedful.runs.reading import READ, inputs_of
from heedful.runs.reporter import Reporter

PART_INSTANCES = 16  # lost at most by a kill: each is read hundreds of times


def perform_erasure(run: Run, reporter: Reporter) -> None:
    """Erase items of a sample of the test instances from what the model reads."""
    evidence, path = run.folder / "evidence.parquet", run.folder / STAGES[ERASURE].files[0]
    options, config = run.config.experiment_options, run.config
    model, vocabulary, parts = run.model(), run.vocabulary, Parts(path)
    chosen = _sample(collect(scan(evidence).select("id"), evidence)["id"], options.sample, config.seed)
    there = scan(evidence).collect_schema().names()
    wanted = scan(evidence).select([name for name in (*READ, "weights") if name in there])
    reporter.start(ERASURE, len(chosen))
    for start in range(parts.rows, len(chosen), PART_INSTANCES):
        rows = chosen[start : start + PART_INSTANCES]
        near = collect(wanted.slice(rows[0], rows[-1] + 1 - rows[0]), evidence)  # a part of the file, not all of it
        frame = near[rows - rows[0]]
        parts.add(
            erasure(
                model,
                frame["id"].to_list(),
                inputs_of(frame, vocabulary, sentences=config.hierarchical),
                ragged(frame, "weights", "numbers", str(evidence)),
                steps=options.steps,
                tolerance=config.importance.tolerance,
                seed=config.seed,
            )
        )
        reporter.reach(start + len(frame))
    parts.finish({"run": run.folder.name, "experiment": ERASURE})
    reporter.finish(told(path, ERASURE, len(chosen)))


def _sample(ids: pl.Series, size: int, seed: int) -> Indices:
    """The rows of so many instances (0: of all), rising; whether one is drawn does not depend on where it stands."""
    if not size or size >= len(ids):
        return np.arange(len(ids))
    drawn = np.argsort(Stream(seed, "sample").bits(keys(ids)), kind="stable")[:size]
    return np.sort(drawn)
