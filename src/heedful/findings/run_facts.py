"""One run: its results as frames, what it lacks and why, and whether its model has learned anything."""

from typing import Any

import polars as pl

from heedful.evidence import collect, decide, scan
from heedful.evidence_checks import NO_LABEL
from heedful.experiments import EXPERIMENT_NAMES
from heedful.files import scan_parquet
from heedful.findings.cache import kept
from heedful.list_columns import ragged_column
from heedful.ragged import Indices
from heedful.runs.directory import STAGES, Run
from heedful.runs.experiment_stages import unsupported
from heedful.workspace.folder import damage_named

_LISTS = ("random_counts", "random_masses")  # one value per random order; no table needs other lists


class RunFrames:
    """The results of a run, each read once, without the long lists that no table needs."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._frames: dict[str, pl.DataFrame] = {}

    @property
    def corpus(self) -> dict[str, Any]:
        """The manifest's entry on the corpus."""
        corpus: dict[str, Any] = self.run.manifest["corpus"]
        return corpus

    def results(self, experiment: str) -> pl.DataFrame:
        """The frame of an experiment: numbers and flags only."""
        if experiment not in self._frames:
            file = self.run.folder / STAGES[experiment].files[0]
            with damage_named(file, pl.exceptions.PolarsError):
                frame = scan_parquet(file)
                kinds = frame.collect_schema().items()
                wanted = [name for name, kind in kinds if not isinstance(kind, pl.List) or name in _LISTS]
                self._frames[experiment] = frame.select(wanted).collect()
        return self._frames[experiment]

    def decisions(self) -> tuple[Indices, Indices]:
        """Labels (n,) and decisions (n,) of the test instances; NO_LABEL where there is no label."""
        path = self.run.folder / "evidence.parquet"
        evidence = scan(path)
        label = "label" if "label" in evidence.collect_schema().names() else pl.lit(None).alias("label")
        frame = collect(evidence.select("id", label, "output"), path)
        output = ragged_column(frame, "output", "numbers", str(path)).values.reshape(len(frame), -1)  # (n, K)
        return frame["label"].cast(pl.Int64).fill_null(NO_LABEL).to_numpy(), decide(output)


def why_missing(run: Run, stage: str) -> str | None:
    """Why a run has no results of a stage (an experiment, or `evidence`); None if it has."""
    reasons: dict[str, str | None] = kept("missing", run, lambda: _missing(run))
    return reasons[stage]


def _missing(run: Run) -> dict[str, str | None]:
    reasons: dict[str, str | None] = {}
    impossible = unsupported_experiments(run)
    for stage in ("evidence", *EXPERIMENT_NAMES):
        if run.done(stage):
            reasons[stage] = None
        elif not run.done("evidence"):
            reasons[stage] = "the model is not trained and tested yet; `heedful run` with the same options does it"
        else:
            reasons[stage] = f"{stage} {impossible.get(stage) or run.not_performed(stage)}"
    return reasons


def unsupported_experiments(run: Run) -> dict[str, str]:
    """The experiments that the run's evidence cannot support, and why."""
    if not run.done("evidence"):
        return {}
    return unsupported(set(scan(run.folder / "evidence.parquet").collect_schema()))


def several_sentences(run: Run) -> pl.Series | None:
    """Which documents have more than one sentence; None where items are sentences, or sentences are not known."""
    path = run.folder / "evidence.parquet"
    columns = scan(path).collect_schema().names()
    if "sentences" not in columns or "words" in columns:
        return None
    return collect(scan(path).select(pl.col("sentences").list.len() > 1), path)["sentences"]


def has_learned(run: Run) -> bool:
    """Whether the model beats the majority class; findings about one that does not mean nothing."""
    counts = run.manifest["corpus"]["counts"]["test"]
    majority = max(counts) / sum(counts) if sum(counts) else 0.0
    accuracy = run.metrics["test"]["accuracy"]  # None without labels
    return accuracy is not None and bool(accuracy > majority)
