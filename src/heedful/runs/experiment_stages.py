"""The stages after evidence: importance, and one stage for each experiment. Each goes on where it was killed."""

from collections.abc import Iterable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from heedful.errors import BadInput, unknown_name
from heedful.evidence import collect, read_batches, scan
from heedful.experiments import ERASURE, EXPERIMENT_NAMES, EXPERIMENTS
from heedful.experiments.rankings import ORDERINGS
from heedful.files import scan_parquet
from heedful.importance.erasure import erasure
from heedful.list_columns import ragged_column
from heedful.randomness import sample
from heedful.runs.config import RunConfig
from heedful.runs.directory import STAGES, Run
from heedful.runs.model_setup import READ, inputs_of
from heedful.workspace.folder import damage_named
from heedful.workspace.parts import StageParts

PART_INSTANCES = 1024  # instances of an experiment held in memory and lost at most by a kill
PART_ITEMS = 4096  # items of importance lost at most by a kill: a long text costs more than many short ones

# performed unless others are named; the search is there to be compared with, and takes long
USUAL = tuple(name for name in EXPERIMENT_NAMES if name != "adversary_search")

_RANDOM = {name for name, experiment in EXPERIMENTS.items() if "seed" in signature(experiment).parameters}

_FIGURES = {  # what the line about a finished experiment says: a quantity, and how it is told
    "correlation": ("tau_attention_gradient", "mean tau of attention and gradient {:.3f}"),
    "permutation": ("median", "mean of the median TVD {:.3f}"),
    "adversary": ("jsd", "mean eps-max JSD {:.3f}"),
    "adversary_search": ("jsd", "mean JSD found {:.3f}"),
    "reach": ("can_change", "some attention changes the decision of {:.1%}"),
    "substitution": ("uniform_changed", "uniform weights change the decision of {:.1%}"),
    "violation": ("violates", "the most attended item argues against the decision in {:.1%}"),
    "single_weight": ("attention_flips", "without the most attended item {:.1%} of the decisions change"),
    "removal": ("attention_fraction", "{:.1%} of the items removed by attention until the decision changes"),
    "curves": ("attention_comprehensiveness", "mean comprehensiveness of attention {:.3f}"),
    "truth": ("mass", "mean attention on deciding items {:.1%}"),
    "erasure": ("delete_attention_fraction", "{:.1%} of the items deleted by attention until the decision changes"),
}


def parse_experiments(experiments: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """The experiments that a user names, checked: a list, or text as on the command line ("reach,permutation").

    "none" names none and "all" every one; None leaves the choice to `chosen`.
    """
    if experiments is None:
        return None
    if isinstance(experiments, str):
        words = [word.strip() for word in experiments.split(",")]
        experiments = {"all": list(EXPERIMENT_NAMES), "none": []}.get(experiments.strip(), words)
    names = tuple(dict.fromkeys(experiments))
    for name in names:
        if name not in EXPERIMENT_NAMES:
            raise unknown_name("experiment", str(name), [*EXPERIMENT_NAMES, "all", "none"])
    return names


def choose_experiments(names: tuple[str, ...] | None, columns: Iterable[str]) -> list[str]:
    """Which experiments to perform on evidence with these columns (or on that of a corpus with these): those named, or
    (None) the usual ones.

    Of the usual ones and of all, what the evidence cannot support is left out; what was named by itself is refused.
    """
    reasons = unsupported(set(columns))
    if names is not None and len(names) < len(EXPERIMENT_NAMES):
        for name in names:
            if name in reasons:
                raise BadInput(f"experiment '{name}' {reasons[name]}; leave it out of --experiments")
    return [name for name in (USUAL if names is None else names) if name not in reasons]


def unsupported(columns: set[str]) -> dict[str, str]:
    """The experiments that evidence with these columns cannot support, and why."""
    reasons = {}
    if "truth" not in columns:
        reasons["truth"] = (
            "needs evidence with the column 'truth', and this corpus has none: which items decide is not known"
        )
    if "query" in columns and "scores" not in columns:
        reasons["reach"] = "needs an affine decoder, and that of models which answer queries is not"
    return reasons


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
    path = run.folder / STAGES[name].files[0]
    evidence = run.folder / "evidence.parquet"
    total = int(collect(scan(evidence).select(pl.len()), evidence).item())
    options = _options(run, name)

    def part(start: int, stop: int) -> pl.DataFrame:
        batch = next(read_batches(evidence, max(1, stop - start), start=start))
        given = (batch, _importance_of(run, start, len(batch), total)) if name == "correlation" else (batch,)
        return EXPERIMENTS[name](*given, **options)

    return StageParts.split(
        name.replace("_", " "),
        np.ones(total, dtype=np.int64),  # progress counts instances
        part,
        rows=PART_INSTANCES,
        metadata={"run": run.folder.name, "experiment": name},
        summary=lambda: headline(path, name, total),
    )


def headline(path: Path, name: str, total: int) -> str:
    """What a finished experiment found, in a few words."""
    quantity, words = _FIGURES[name]
    frame = scan_parquet(path)
    value = pl.col(quantity)
    if name in ("removal", ERASURE):  # as in their tables: an order of one item says nothing, what never changes is all
        frame, value = frame.filter(pl.col("items") > 1), value.fill_null(1.0)
    mean = frame.select(value.mean()).collect().item() if quantity in frame.collect_schema() else None
    return f"{total:,} instances" if mean is None else words.format(mean)


def _options(run: Run, name: str) -> dict[str, Any]:
    config: RunConfig = run.config
    options = config.experiment_options
    given: dict[str, Any] = {"seed": config.seed} if name in _RANDOM else {}
    match name:
        case "correlation":
            given |= {"top": options.top or _usual_top(run)}
        case "permutation":
            given |= {"permutations": options.permutations}
        case "adversary":
            given |= {"epsilon": options.epsilon}
        case "adversary_search":
            given |= {"epsilon": options.epsilon, "preset": config.preset}
        case "single_weight":
            given |= {"rival": "position" if config.preset == "released" else "other"}
        case "removal":
            given |= {"rankings": options.rankings, "orders": options.orders}
        case "curves":
            ordering = [name for name in options.rankings if name in ORDERINGS]
            given |= {"rankings": ordering or ORDERINGS}  # the optimum alone orders nothing
    return given


def _usual_top(run: Run) -> int:
    """A tenth of a test text, ten items at least, as in the released code."""
    lengths = scan(run.folder / "evidence.parquet").select(pl.col("tokens").list.len().mean()).collect()
    return max(10, int(0.1 * lengths.item()))


def _importance_of(run: Run, start: int, count: int, total: int) -> pl.DataFrame:
    """The importance of consecutive instances; each has as many rows as any other."""
    file = run.folder / "importance.parquet"
    with damage_named(file, pl.exceptions.PolarsError):
        table = scan_parquet(file)
        each = int(table.select(pl.len()).collect().item()) // total
        return table.slice(start * each, count * each).collect()


ERASURE_INSTANCES = 16  # lost at most by a kill: each is read hundreds of times


def erasure_parts(run: Run) -> StageParts:
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
            ragged_column(frame, "weights", "numbers", str(evidence)),
            steps=options.steps,
            tolerance=config.importance.tolerance,
            seed=config.seed,
        )

    return StageParts.split(
        ERASURE,
        np.ones(len(chosen), dtype=np.int64),
        part,
        rows=ERASURE_INSTANCES,
        metadata={"run": run.folder.name, "experiment": ERASURE},
        summary=lambda: headline(path, ERASURE, len(chosen)),
    )
