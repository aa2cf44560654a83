"""The stages after evidence: importance, and one stage per experiment. Each resumes where it was killed."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from heedful.errors import BadConfig, BadInput, unknown_name
from heedful.evidence import Evidence, collect, decision_counts, read_batches, read_metadata, scan
from heedful.experiments import EXPERIMENT_NAMES, EXPERIMENTS, Experiment
from heedful.experiments.experiment import RunSettings
from heedful.files import row_count, rows_of, scan_parquet
from heedful.list_columns import ragged_column
from heedful.randomness import keys, sample
from heedful.runs.config import SAMPLE, RunConfig
from heedful.runs.directory import STAGES, Run
from heedful.verdict.rule import determined
from heedful.workspace.folder import damage_named
from heedful.workspace.parts import StageParts
from heedful.workspace.sample import AUTO, drawn, ends, population, verdict_so_far

PART_INSTANCES = 1024  # instances of an experiment held in memory, and lost by a kill at most
PART_ITEMS = 4096  # items whose importance a kill can lose: a long text costs more than many short ones
ERASURE_INSTANCES = 16  # instances a kill can lose: each takes hundreds of forward passes
HIGHLIGHT_RANKINGS = ("leave_one_out", "gradient_input")  # that compete with attention for the words to highlight
DEFAULT = tuple(experiment.name for experiment in EXPERIMENTS.values() if experiment.default)


def parse_experiments(experiments: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """The experiments that a user names, checked: a list, or text as on the command line ("reach,permutation").

    "none" and "" name none and "all" every one; None leaves the choice to `chosen`.
    """
    if experiments is None:
        return None
    if isinstance(experiments, str):
        words = [word.strip() for word in experiments.split(",")]
        experiments = {"all": list(EXPERIMENT_NAMES), "none": [], "": []}.get(experiments.strip(), words)
    if not isinstance(experiments, Iterable):
        raise BadConfig(f"experiments = {experiments!r}: give a list of names, all or none")
    each = list(experiments)
    names = tuple(name for number, name in enumerate(each) if name not in each[:number])  # of any type
    for name in names:
        if name not in EXPERIMENT_NAMES:
            raise unknown_name("experiment", str(name), [*EXPERIMENT_NAMES, "all", "none"])
    return names


def choose_experiments(names: tuple[str, ...] | None, columns: Iterable[str]) -> list[str]:
    """The experiments to perform on evidence, or a corpus, with these columns: those named, or (None) the default.

    Of the default ones or all, those that the evidence cannot support are left out; those named are refused.
    """
    reasons = unsupported(set(columns))
    if names is not None and len(names) < len(EXPERIMENTS):
        for name in names:
            if name in reasons:
                raise BadInput(f"experiment '{name}' {reasons[name]}; leave it out of --experiments")
    return [name for name in (DEFAULT if names is None else names) if name not in reasons]


def unsupported(columns: set[str]) -> dict[str, str]:
    """The experiments that evidence with these columns cannot support, and why.

    Of a corpus whose evidence is not there yet, models that answer queries will leave features, others scores.
    """
    if columns.isdisjoint(("weights", "scores", "features")):
        columns = columns | {"features" if "query" in columns else "scores"}
    reasons = {name: experiment.unsupported(columns) for name, experiment in EXPERIMENTS.items()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def importance_parts(run: Run) -> StageParts:
    """How much each token of each test instance matters, measured on the model."""
    from heedful.importance.table import importance_table
    from heedful.runs.model_setup import READ, inputs_of

    model, vocabulary, options = run.model(), run.vocabulary, run.config.importance
    evidence = run.folder / "evidence.parquet"
    there = scan(evidence).collect_schema().names()
    read = [name for name in READ if name in there]
    text = "words" if "words" in there else "tokens"
    lengths = collect(scan(evidence).select(pl.col(text).list.len()), evidence)[text].to_numpy().astype(np.int64)

    def part(start: int, stop: int) -> pl.DataFrame:
        frame = collect(scan(evidence).slice(start, stop - start).select(read), evidence)
        return importance_table(
            model,
            frame["id"].to_list(),
            inputs_of(frame, vocabulary, sentences=run.config.hierarchical),
            measures=options.measures,
            tolerance=options.tolerance,
            leave_one_out_tolerance=options.leave_one_out_tolerance,
        )

    return StageParts.split(
        "importance: " + ", ".join(options.measures),
        lengths,
        part,
        items=PART_ITEMS,
        metadata={"run": run.folder.name},
        summary=lambda: f"{len(lengths):,} instances",
        unit="words",
    )


def experiment_parts(run: Run, name: str) -> StageParts:
    """One experiment on the run's evidence."""
    experiment, evidence = EXPERIMENTS[name], run.folder / "evidence.parquet"
    total = int(collect(scan(evidence).select(pl.len()), evidence).item())
    options = run_options(run, experiment)

    def part(start: int, stop: int) -> pl.DataFrame:
        batch = next(read_batches(evidence, max(1, stop - start), start=start))
        if "importance" in experiment.needs:
            return experiment(batch, _importance_of(run, start, len(batch), total), **options)
        return experiment(batch, **options)

    return _in_parts(run, experiment, total, PART_INSTANCES, part)


def erasure_parts(run: Run) -> StageParts:
    """Items of a sample of the test instances erased from what the model reads."""
    from heedful.importance.erasure import erasure
    from heedful.runs.model_setup import READ, inputs_of

    evidence = run.folder / "evidence.parquet"
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
            ragged_column(frame, "weights", "numbers", str(evidence)),
            steps=options.steps,
            tolerance=config.importance.tolerance,
            seed=config.seed,
        )

    return _in_parts(run, EXPERIMENTS["erasure"], len(chosen), ERASURE_INSTANCES, part)


def highlights_parts(run: Run) -> StageParts:
    """Highlighted items of some test instances deleted, swapped and robbed of their attention: of as many as the
    verdict takes, or of a sample of the size that was asked for."""
    from heedful.importance.classifier_texts import WAYS, ObservedTexts
    from heedful.importance.highlights import Donors, donor_rows, highlights
    from heedful.importance.table import attributions
    from heedful.runs.model_setup import READ, inputs_of

    file, config = run.folder / "evidence.parquet", run.config
    model, vocabulary, about = run.model(), run.vocabulary, read_metadata(file)
    everyone, table = population(file), scan(file)
    rows = drawn(everyone, verdict_sample(config), config.seed)
    there = table.collect_schema().names()
    read = [name for name in (*READ, "weights", "output", "truth") if name in there]
    given = rows_of(table.select(read), donor_rows(everyone.ids, everyone.decided, config.seed))
    donors = Donors(
        inputs_of(given, vocabulary, sentences=config.hierarchical),
        ragged_column(given, "weights", "numbers", str(file)),
        np.stack(given["output"].to_list()),
        keys(given["id"]),
        ragged_column(given, "truth", "flags", str(file)) if "truth" in there else None,
    )

    def part(start: int, stop: int) -> pl.DataFrame:
        frame = rows_of(table, np.sort(rows[start:stop]))
        evidence = Evidence.from_frame(frame, about, str(file))
        texts = ObservedTexts(model, inputs_of(frame, vocabulary, sentences=config.hierarchical), evidence)
        rankings = attributions(texts, names=HIGHLIGHT_RANKINGS, tolerance=config.importance.tolerance)
        return highlights(
            texts,
            evidence.ids,
            evidence.weights,
            donors,
            rankings=rankings,
            ways=WAYS,
            truth=evidence.truth,
            seed=config.seed,
        )

    return _until_determined(run, _in_parts(run, EXPERIMENTS["highlights"], len(rows), ERASURE_INSTANCES, part))


def verdict_sample(config: RunConfig) -> int | str:
    """How many texts `highlights` reads: as many as it takes, unless a sample of another size was asked for."""
    options = config.experiment_options
    if options.highlights is not None:
        return options.highlights
    return AUTO if options.sample == SAMPLE else options.sample


def _until_determined(run: Run, stage: StageParts) -> StageParts:
    """The parts of `highlights`, in the order of the evidence; by default only as many as the verdict takes."""
    file = run.folder / "evidence.parquet"
    place = scan(file).select("id").with_row_index("row")

    def merged(parts: pl.LazyFrame) -> pl.LazyFrame:
        return parts.join(place, on="id", how="left").sort("row").drop("row")

    if verdict_sample(run.config) != AUTO:
        return replace(stage, merged=merged)
    pieces = list(pairwise([0, *ends(sum(stage.steps))]))
    counts = decision_counts(file)
    return replace(
        stage,
        pieces=pieces,
        steps=[stop - start for start, stop in pieces],
        enough=lambda frames: determined(verdict_so_far(frames, classes=run.classes, population=counts)),
        merged=merged,
    )


def run_options(run: Run, experiment: Experiment) -> dict[str, Any]:
    """The keyword arguments of an experiment in a run."""

    def mean_items() -> float:
        lengths = scan(run.folder / "evidence.parquet").select(pl.col("tokens").list.len().mean())
        return float(lengths.collect().item())

    config: RunConfig = run.config
    settings = RunSettings(config.experiment_options, config.preset, mean_items)
    return experiment.run_options(settings, config.seed)


def _in_parts(
    run: Run, experiment: Experiment, total: int, size: int, part: Callable[[int, int], pl.DataFrame]
) -> StageParts:
    """An experiment on `total` instances, at most `size` of them per part."""

    def headline() -> str:
        frame = scan_parquet(run.folder / STAGES[experiment.name].file)
        return experiment.headline.of(frame, item=run.item) or f"{total:,} instances"

    return StageParts.split(
        experiment.title,
        np.ones(total, dtype=np.int64),  # progress counts instances
        part,
        rows=size,
        metadata={"run": run.folder.name, "experiment": experiment.name},
        summary=headline,
    )


def _importance_of(run: Run, start: int, count: int, total: int) -> pl.DataFrame:
    """The importance of consecutive instances; each has as many rows as any other."""
    file = run.folder / "importance.parquet"
    with damage_named(file, pl.exceptions.PolarsError):
        table = scan_parquet(file)
        each = row_count(table) // total
        return table.slice(start * each, count * each).collect()
