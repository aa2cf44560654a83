"""The figures of every table of the report: for one run, the rows of each table, by the keys of its columns.

Means over test instances with 95 % intervals by bootstrap, published figures beside them. Every function here is kept
(see `cache`); `heedful.report.tables` declares the columns.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import wraps

import polars as pl

from heedful import experiments
from heedful.evidence_checks import NO_LABEL
from heedful.experiments.substitution import score_draws
from heedful.experiments.summary import SIGNIFICANT
from heedful.findings.cache import kept
from heedful.findings.labels import ranking_name
from heedful.findings.published import (
    measures_taken,
    published_corpus,
    published_performance,
    published_tau,
    published_wins,
)
from heedful.findings.run_facts import RunFrames, has_learned, several_sentences, unsupported_experiments
from heedful.measures import percentiles
from heedful.printable import FEW_CLASSES, tally

DRAWS = 1000  # of the bootstrap
SEED = 0
ALL = "all"  # the group of all decided classes
VERDICTS = {True: "holds", False: "does not hold", None: "not significant here"}

Value = str | int | float | bool | None
Cells = Mapping[str, Value]
Rows = Callable[[RunFrames], Iterable[Cells]]

_NOTHING = experiments.Estimate(None, None, None, None, 0, 0)
_METRICS = {"f1": ("macro_f1", "macro F1"), "micro-f1": ("accuracy", "micro F1"), "accuracy": ("accuracy", "accuracy")}
ERASED = {"delete": "deleted", "unknown": "unknown", "blank": "blank"}


def _kept(rows: Rows) -> Rows:
    @wraps(rows)
    def read(frames: RunFrames) -> list[Cells]:
        made: list[Cells] = kept(
            f"table-{rows.__name__}",
            frames.run,
            lambda: [{key: _defined(value) for key, value in cells.items()} for cells in rows(frames)],
            draws=DRAWS,
            seed=SEED,
        )
        return made

    return read


@_kept
def corpus_rows(frames: RunFrames) -> Iterable[Cells]:
    """Corpus and test performance: Table 1 of Jain & Wallace 2019."""
    run, corpus, paper = frames.run, frames.corpus, published_corpus(frames.run)
    usual = "accuracy" if corpus.get("query") or run.config.model != "classifier" else "f1"
    metric, metric_name = _METRICS[usual if paper is None else paper.metric]
    low, high = _score_interval(frames, metric)
    yield {
        "vocabulary": corpus["vocabulary"],
        "paper_vocabulary": paper and paper.vocabulary,
        "mean_length": corpus["mean_length"],
        "paper_mean_length": paper and paper.mean_length,
        "train": _tally(frames, "train"),
        "paper_train": paper and "/".join(map(str, paper.train)),
        "test": _tally(frames, "test"),
        "paper_test": paper and "/".join(map(str, paper.test)),
        "n": run.metrics["test"]["n"],
        "metric": metric_name,
        "performance": run.metrics["test"][metric],
        "performance_low": low,
        "performance_high": high,
        "paper_performance": published_performance(run),
    }


@_kept
def correlation_rows(frames: RunFrames) -> Iterable[Cells]:
    """Kendall's tau of attention and importance: Table 2 of Jain & Wallace 2019."""
    frame, run = frames.results("correlation"), frames.run
    measures = measures_taken(frame.columns)
    few = len(run.classes) <= FEW_CLASSES
    groups = [*(sorted(frame["decision"].unique().to_list()) if few else []), None]
    quantities = [
        column
        for name in measures
        for column in (
            pl.col(f"tau_attention_{name}").alias(f"tau {name}"),
            (pl.col(f"p_attention_{name}") <= SIGNIFICANT).alias(f"significant {name}"),
        )
    ]
    found = {}
    for group in groups:
        some = frame if group is None else frame.filter(pl.col("decision") == group)
        found[group] = experiments.estimates(some.select(quantities), seed=SEED, draws=DRAWS)
    for measure in measures:
        for group in groups:
            tau, paper = found[group][f"tau {measure}"], published_tau(run, measure, group)
            yield {
                "importance": measure.replace("_", "-"),
                "decided": ALL if group is None else run.classes[group],
                "n": tau.n,
                "undefined": tau.undefined,
                **_cells("tau", tau),
                **_cells("significant", found[group][f"significant {measure}"]),
                "paper_tau": paper and paper.mean,
                "paper_tau_std": paper and paper.std,
                "paper_significant": paper and paper.significant,
            }


@_kept
def permutation_rows(frames: RunFrames) -> Iterable[Cells]:
    """How far the output moves under shuffled weights."""
    frame = frames.results("permutation")
    permutations = frames.run.config.experiment_options.permutations
    means = _means(frame.select("median", "changed", "can_change"))
    yield {"n": len(frame), "permutations": permutations, **means}


@_kept
def adversary_rows(frames: RunFrames) -> Iterable[Cells]:
    """How different attention could be with the same output, and how far the paper's search gets."""
    found, epsilon = frames.results("adversary"), frames.run.config.experiment_options.epsilon
    search = frames.results("adversary_search") if frames.run.done("adversary_search") else None
    scores = experiments.adversary_scores(found, search, epsilon=epsilon, seed=SEED, draws=DRAWS)
    yield {
        "epsilon": epsilon,
        "n": len(found),
        **_cells("jsd", scores["jsd"]),
        "upper": scores["upper"].mean,
        "certified": scores["certified"].mean,
        **_cells("search_jsd", scores.get("search_jsd", _NOTHING)),
        **_cells("within", scores.get("within", _NOTHING)),
        **_cells("beaten", scores.get("beaten", _NOTHING)),
        **_cells("missed", scores.get("missed", _NOTHING)),
    }


@_kept
def claim_rows(frames: RunFrames) -> Iterable[Cells]:
    """What Serrano & Smith 2019 found, and whether it holds here."""
    run = frames.run
    single, removed = (frames.results(name) if run.done(name) else None for name in ("single_weight", "removal"))
    for row in experiments.claims(single, removed, only=several_sentences(run)).iter_rows(named=True):
        verdict = VERDICTS[row["holds"]] if row["share"] is not None else None
        yield {**row, "verdict": verdict, "learned": has_learned(run)}


@_kept
def flip_rows(frames: RunFrames) -> Iterable[Cells]:
    """Decisions changed by zeroing one item's attention: Serrano & Smith 2019, section 4."""
    for row in experiments.flip_table(frames.results("single_weight"), seed=SEED, draws=DRAWS).iter_rows(named=True):
        yield {**row, "ranking": ranking_name(row["ranking"])}


@_kept
def ranking_rows(frames: RunFrames) -> Iterable[Cells]:
    """How much is zeroed until the decision changes, by ranking: Serrano & Smith 2019, section 5."""
    for row in experiments.removal_scores(frames.results("removal"), seed=SEED, draws=DRAWS).iter_rows(named=True):
        never = row["never"] / row["n"] if row["n"] and row["never"] is not None else None
        yield {**row, "ranking": ranking_name(row["ranking"]), "never": never}


@_kept
def win_rows(frames: RunFrames) -> Iterable[Cells]:
    """How often another ranking changes the decision before attention does: Serrano & Smith 2019, section 5."""
    wins = experiments.removal_wins(
        frames.results("removal"), only=several_sentences(frames.run), seed=SEED, draws=DRAWS
    )
    for row in wins.filter(pl.col("first") == "attention").iter_rows(named=True):
        yield {
            "rival": ranking_name(row["second"]),
            "n": row["n"] + row["neither"],
            **{f"rival_wins{end}": row[f"second_all{end}"] for end in ("", "_low", "_high")},
            "paper_rival_wins": published_wins(frames.run) if row["second"] == "gradient" else None,
            **{f"attention_wins{end}": row[f"first_all{end}"] for end in ("", "_low", "_high")},
            "ties": row["ties"],
            "neither": row["neither"],
            "p_holm": row["p_holm"],
        }


@_kept
def reach_rows(frames: RunFrames) -> Iterable[Cells]:
    """Decisions that no attention could change."""
    frame = frames.results("reach")
    yield {"n": len(frame), **_means(frame.select("gap", irrelevant=~pl.col("can_change")))}


@_kept
def substitution_rows(frames: RunFrames) -> Iterable[Cells]:
    """Test scores with other weights than the model's own."""
    frame = frames.results("substitution")
    for row in experiments.substitution_scores(frame, seed=SEED, draws=DRAWS).iter_rows(named=True):
        own = row["weights"] == "own"
        ends = {"": "", "_low": "_high", "_high": "_low"}  # the fewer agree, the more change
        changed = {f"changed{end}": None if own else _rest(row[f"agreement{other}"]) for end, other in ends.items()}
        yield {"n": len(frame), **row, **changed}


@_kept
def violation_rows(frames: RunFrames) -> Iterable[Cells]:
    """How often the most attended item argues against the decision."""
    frame = frames.results("violation")
    yield {"n": len(frame), **_means(frame.select("violates"))}


@_kept
def truth_rows(frames: RunFrames) -> Iterable[Cells]:
    """How much attention lies on the items that are known to decide."""
    frame = frames.results("truth")
    undefined = frame["mass"].null_count()
    yield {"n": len(frame) - undefined, "undefined": undefined, **_means(frame.select("mass", "share", "top"))}


@_kept
def erasure_rows(frames: RunFrames) -> Iterable[Cells]:
    """How soon decisions change when items are deleted from the text, by ranking."""
    frame = frames.results("erasure")
    for row in experiments.erasure_scores(frame, seed=SEED, draws=DRAWS).iter_rows(named=True):
        never = row["never"] / row["n"] if row["n"] and row["never"] is not None else None
        names = {"way": ERASED[row["way"]], "ranking": ranking_name(row["ranking"])}
        yield {**row, **names, "sampled": len(frame), "never": never}


@_kept
def missing_rows(frames: RunFrames) -> Iterable[Cells]:
    """Experiments without results: not performed yet, or not possible."""
    if not frames.run.done("evidence"):
        yield {"open": "all, and the model itself", "impossible": ""}
        return
    undone = [name for name in experiments.EXPERIMENT_NAMES if not frames.run.done(name)]
    reasons = unsupported_experiments(frames.run)
    open_ = ", ".join(name for name in undone if name not in reasons)
    impossible = "; ".join(f"{name} {reasons[name]}" for name in undone if name in reasons)
    if open_ or impossible:
        yield {"open": open_, "impossible": impossible}


def _means(frame: pl.DataFrame) -> dict[str, Value]:
    """The cells of the mean of each column."""
    found = experiments.estimates(frame, seed=SEED, draws=DRAWS)
    return {key: value for name, estimate in found.items() for key, value in _cells(name, estimate).items()}


def _cells(key: str, found: experiments.Estimate) -> dict[str, Value]:
    return {key: found.mean, f"{key}_std": found.std, f"{key}_low": found.low, f"{key}_high": found.high}


def _defined(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _score_interval(frames: RunFrames, metric: str) -> tuple[float | None, float | None]:
    labels, decisions = frames.decisions()
    if (labels == NO_LABEL).all():
        return None, None
    accuracy, macro = score_draws(labels, decisions[:, None], seed=SEED, draws=DRAWS)
    return percentiles((macro if metric == "macro_f1" else accuracy)[:, 0]) or (None, None)


def _tally(frames: RunFrames, split: str) -> str:
    """Instances by class, or in total where classes are many; manifests of earlier versions have no total."""
    counts = frames.corpus["counts"][split]
    return tally(counts, frames.corpus.get("sizes", {}).get(split) or sum(counts))


def _rest(share: float | None) -> float | None:
    return None if share is None else 1 - share
