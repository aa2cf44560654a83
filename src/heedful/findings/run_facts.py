"""Why a run has no results of an experiment: it is said, never hidden."""

import polars as pl

from heedful.evidence import collect, scan
from heedful.runs.directory import Run
from heedful.runs.experiment_stages import unsupported


def lacking(run: Run, stage: str) -> str | None:
    """The reason in words; None if there are results."""
    if run.done(stage):
        return None
    if not run.done("evidence"):
        return "the model is not trained and tested yet; `heedful run` with the same options does it"
    reason = unsupported(set(scan(run.folder / "evidence.parquet").collect_schema())).get(stage)
    if reason is not None:
        return f"{stage} {reason}"
    return f"{stage} {run.not_performed(stage)}"


def several_sentences(run: Run) -> pl.Series | None:
    """Which documents have more than one sentence, where items are words and sentences are known; None: no matter."""
    path = run.folder / "evidence.parquet"
    there = scan(path).collect_schema().names()
    if "sentences" not in there or "words" in there:
        return None
    return collect(scan(path).select(pl.col("sentences").list.len() > 1), path)["sentences"]


def has_learned(run: Run) -> bool:
    """Whether the model is right more often than its most frequent class: what is found of one that has learned nothing
    is about nothing."""
    counts = run.manifest["corpus"]["counts"]["test"]
    usual = max(counts) / sum(counts) if sum(counts) else 0.0
    accuracy = run.metrics["test"]["accuracy"]  # None without labels
    return accuracy is not None and bool(accuracy > usual)
