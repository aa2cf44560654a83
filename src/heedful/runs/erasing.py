"""The stage of erasure, which needs evidence and the model. It goes on where it was killed."""

import numpy as np
import polars as pl

from heedful.evidence import collect, scan
from heedful.files import Parts
from heedful.importance.erasure import erasure
from heedful.nested import ragged
from heedful.randomness import Stream, keys
from heedful.runs.directory import STAGES, Run
from heedful.runs.experimenting import told
from heedful.runs.naming import ERASURE
from heedful.runs.reading import inputs_of
from heedful.runs.reporter import Reporter

PART_INSTANCES = 16  # lost at most by a kill: each is read hundreds of times


def perform_erasure(run: Run, reporter: Reporter) -> None:
    """Erase items of a sample of the test instances from what the model reads."""
    evidence, path = run.folder / "evidence.parquet", run.folder / STAGES[ERASURE].files[0]
    options, config = run.config.experiment_options, run.config
    model, vocabulary, parts = run.model(), run.vocabulary, Parts(path)
    chosen = _sample(collect(scan(evidence).select("id"), evidence)["id"], options.sample, config.seed)
    reporter.start(ERASURE, len(chosen))
    for start in range(parts.rows, len(chosen), PART_INSTANCES):
        wanted = pl.Series(chosen[start : start + PART_INSTANCES], dtype=pl.String)
        frame = collect(scan(evidence).filter(pl.col("id").is_in(wanted.implode())), evidence)
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


def _sample(ids: pl.Series, size: int, seed: int) -> list[str]:
    """So many instances (0: all) in their order; whether one is drawn does not depend on the others' order."""
    if not size or size >= len(ids):
        return ids.to_list()
    drawn = np.argsort(Stream(seed, "sample").bits(keys(ids)), kind="stable")[:size]
    return ids.gather(np.sort(drawn)).to_list()
