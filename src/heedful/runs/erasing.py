"""The stage of erasure, which needs evidence and the model."""

import polars as pl

from heedful.evidence import collect, scan
from heedful.importance.erasure import erasure
from heedful.nested import ragged
from heedful.runs.directory import STAGES, Run
from heedful.runs.experimenting import told
from heedful.runs.naming import ERASURE
from heedful.runs.parted import Parted
from heedful.runs.reading import READ, inputs_of
from heedful.runs.sampling import sample

PART_INSTANCES = 16  # lost at most by a kill: each is read hundreds of times


def erasure_parts(run: Run) -> Parted:
    """Items of a sample of the test instances erased from what the model reads."""
    evidence, path = run.folder / "evidence.parquet", run.folder / STAGES[ERASURE].files[0]
    options, config = run.config.experiment_options, run.config
    model, vocabulary = run.model(), run.vocabulary
    chosen = sample(collect(scan(evidence).select("id"), evidence)["id"], options.sample, config.seed)
    there = scan(evidence).collect_schema().names()
    wanted = scan(evidence).select([name for name in (*READ, "weights") if name in there])

    def part(start: int, stop: int) -> pl.DataFrame:
        rows = chosen[start:stop]
        near = collect(wanted.slice(rows[0], rows[-1] + 1 - rows[0]), evidence)  # a part of the file, not all of it
        frame = near[rows - rows[0]]
        return erasure(
            model,
            frame["id"].to_list(),
            inputs_of(frame, vocabulary, sentences=config.hierarchical),
            ragged(frame, "weights", "numbers", str(evidence)),
            steps=options.steps,
            tolerance=config.importance.tolerance,
            seed=config.seed,
        )

    starts = range(0, len(chosen), PART_INSTANCES)
    pieces = [(start, min(start + PART_INSTANCES, len(chosen))) for start in starts]
    return Parted(
        title=ERASURE,
        pieces=pieces,
        steps=[stop - start for start, stop in pieces],
        part=part,
        about={"run": run.folder.name, "experiment": ERASURE},
        told=lambda: told(path, ERASURE, len(chosen)),
    )
