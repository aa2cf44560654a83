"""Source: one run's results for all tables, each read once, without the long lists that no table needs."""

from typing import Any

import polars as pl

from heedful.evidence import collect, decide, scan
from heedful.evidence_checks import NO_LABEL
from heedful.files import scan_parquet
from heedful.findings.run_facts import lacking
from heedful.list_columns import ragged_column
from heedful.ragged import Indices
from heedful.runs.directory import STAGES, Run
from heedful.runs.experiment_stages import unsupported
from heedful.workspace.folder import damage_named

_LISTS = ("random_counts", "random_masses")  # as many values an instance as there are random orders


class Source:
    """What tables read of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.manifest = run.manifest
        self._frames: dict[str, pl.DataFrame] = {}

    @property
    def corpus(self) -> dict[str, Any]:
        """What the manifest says of the corpus."""
        corpus: dict[str, Any] = self.manifest["corpus"]
        return corpus

    def results(self, experiment: str) -> pl.DataFrame:
        """An experiment's frame, figures and truth values only."""
        if experiment not in self._frames:
            file = self.run.folder / STAGES[experiment].files[0]
            with damage_named(file, pl.exceptions.PolarsError):
                frame = scan_parquet(file)
                kinds = frame.collect_schema().items()
                wanted = [name for name, kind in kinds if not isinstance(kind, pl.List) or name in _LISTS]
                self._frames[experiment] = frame.select(wanted).collect()
        return self._frames[experiment]

    def decided(self) -> tuple[Indices, Indices]:
        """The labels (n,) and decisions (n,) of the test instances; no labels where the evidence has none."""
        path = self.run.folder / "evidence.parquet"
        told = scan(path)
        label = "label" if "label" in told.collect_schema().names() else pl.lit(None).alias("label")
        frame = collect(told.select("id", label, "output"), path)
        output = ragged_column(frame, "output", "numbers", str(path)).values.reshape(len(frame), -1)  # (n, K)
        return frame["label"].cast(pl.Int64).fill_null(NO_LABEL).to_numpy(), decide(output)

    def unsupported(self) -> dict[str, str]:
        """The experiments that the run's evidence cannot support, and why."""
        return unsupported(set(scan(self.run.folder / "evidence.parquet").collect_schema()))

    def lack(self, stage: str) -> str | None:
        """Why there are no results of an experiment (or no `evidence`), in words that follow the run's name."""
        return lacking(self.run, stage)
