"""The stages after evidence: importance, and one stage for each experiment. Each goes on where it was killed."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

from heedful.errors import BadInput, unknown_name
from heedful.evidence import read_batches, scan
from heedful.experiments import EXPERIMENTS, summary
from heedful.files import Parts, scan_parquet
from heedful.ragged import Indices
from heedful.runs.config import RunConfig
from heedful.runs.directory import STAGES, Run
from heedful.runs.reporter import Reporter

PART_INSTANCES = 1024  # instances of an experiment held in memory and lost at most by a kill
PART_ITEMS = 8192  # items of importance lost at most by a kill: a long text costs more than many short ones

# performed unless others are named; the search is there to be compared with, and takes long
USUAL = tuple(name for name in EXPERIMENTS if name != "adversary_search")

_FIGURES = {  # what the line about a finished experiment says: a quantity and its name
    "correlation": ("tau_attention_gradient", "mean tau of attention and gradient"),
    "permutation": ("median", "mean of the median TVD"),
    "adversary": ("jsd", "mean eps-max JSD"),
    "adversary_search": ("jsd", "mean JSD found"),
    "reach": ("can_change", "attention can change the decision in a share of"),
    "substitution": ("uniform_changed", "uniform weights change the decision in a share of"),
    "violation": ("violates", "the most attended item argues against the decision in a share of"),
    "truth": ("mass", "mean attention on deciding items"),
}


def chosen(experiments: Iterable[str] | None, columns: Iterable[str]) -> list[str]:
    """The experiments to perform on evidence with these columns: those named, or (None) the usual ones it supports.

    The one name `all` stands for every experiment that it supports.
    """
    known = "truth" in columns
    if experiments is None or experiments == "all":
        return [name for name in (USUAL if experiments is None else EXPERIMENTS) if known or name != "truth"]
    names = list(dict.fromkeys(experiments))
    for name in names:
        if name not in EXPERIMENTS:
            raise unknown_name("experiment", name, EXPERIMENTS)
    if "truth" in names and not known:
        raise BadInput(
            "experiment 'truth' needs evidence with the column 'truth', and this corpus has none: "
            "which items decide is not known; leave it out of --experiments"
        )
    return names


def write_importance(run: Run, reporter: Reporter) -> None:
    """Measure on the model how much each token of each test instance matters."""
    from heedful.importance.table import importance_table

    model, vocabulary, options = run.model(), run.vocabulary, run.config.importance
    evidence = run.folder / "evidence.parquet"
    lengths = scan(evidence).select(pl.col("tokens").list.len()).collect()["tokens"].to_numpy().astype(np.int64)
    parts = Parts(run.folder / "importance.parquet")
    reporter.start("importance: " + ", ".join(options.measures), int(lengths.sum()))
    done = 0
    for index, (start, stop) in enumerate(_pieces(lengths)):
        if index >= parts.done:
            frame = scan(evidence).slice(start, stop - start).select("id", "tokens").collect()
            tokens = vocabulary.encode(frame["tokens"])
            parts.add(
                importance_table(model, frame["id"].to_list(), tokens, measures=options.measures, steps=options.steps)
            )
        done += int(lengths[start:stop].sum())
        reporter.reach(done, f"{done:,} tokens")
    parts.finish({"run": run.folder.name})
    reporter.finish(f"{len(lengths):,} instances")


def perform_experiment(run: Run, name: str, reporter: Reporter) -> None:
    """Perform one experiment on the run's evidence."""
    path = run.folder / STAGES[name].files[0]
    parts = Parts(path)
    evidence = run.folder / "evidence.parquet"
    total = int(scan(evidence).select(pl.len()).collect().item())
    options = _options(run, name)
    reporter.start(name.replace("_", " "), total)
    done = parts.done * PART_INSTANCES
    for batch in read_batches(evidence, PART_INSTANCES, start=done):
        given = (batch, _importance_of(run, done, len(batch), total)) if name == "correlation" else (batch,)
        parts.add(EXPERIMENTS[name](*given, **options))
        done += len(batch)
        reporter.reach(done)
    parts.finish({"run": run.folder.name, "experiment": name})
    quantity, title = _FIGURES[name]
    frame = scan_parquet(path).collect()
    table = summary(frame.select(column for column in frame.columns if column in ("decision", quantity)))
    mean = table.filter(pl.col("decision").is_null() & (pl.col("quantity") == quantity))["mean"]
    reporter.finish(f"{title} {mean[0]:.3f}" if len(mean) and mean[0] is not None else "undefined")


def _options(run: Run, name: str) -> dict[str, Any]:
    config: RunConfig = run.config
    options, seed = config.experiment_options, config.seed
    match name:
        case "correlation":
            return {"top": options.top or _usual_top(run)}
        case "permutation":
            return {"permutations": options.permutations, "seed": seed}
        case "adversary":
            return {"epsilon": options.epsilon, "seed": seed}
        case "adversary_search":
            return {"epsilon": options.epsilon, "seed": seed, "preset": config.preset}
        case "substitution":
            return {"seed": seed}
        case _:
            return {}


def _usual_top(run: Run) -> int:
    """A tenth of a test text, ten items at least, as in the released code."""
    lengths = scan(run.folder / "evidence.parquet").select(pl.col("tokens").list.len().mean()).collect()
    return max(10, int(0.1 * lengths.item()))


def _importance_of(run: Run, start: int, count: int, total: int) -> pl.DataFrame:
    """The importance of consecutive instances; each has as many rows as any other."""
    table = scan_parquet(run.folder / "importance.parquet")
    each = int(table.select(pl.len()).collect().item()) // total
    return table.slice(start * each, count * each).collect()


def _pieces(lengths: Indices) -> Iterator[tuple[int, int]]:
    """Where to cut instances into pieces of at most PART_ITEMS items, one instance at least."""
    start = items = 0
    for stop, length in enumerate(lengths.tolist()):
        if stop > start and items + length > PART_ITEMS:
            yield start, stop
            start, items = stop, 0
        items += length
    yield start, len(lengths)
