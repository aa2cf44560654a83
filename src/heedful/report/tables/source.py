"""Source: one run's results for all tables, each read once, without the long lists that no table needs."""

from typing import Any

import polars as pl

from heedful.evidence import scan
from heedful.files import scan_parquet
from heedful.runs.directory import STAGES, Run, damage_named
from heedful.runs.experimenting import unsupported

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

    def lack(self, stage: str) -> str | None:
        """Why there are no results of an experiment (or no `evidence`), in words that follow the run's name."""
        if self.run.done(stage):
            return None
        if not self.run.done("evidence"):
            return "its model is not trained and tested yet; `heedful run` with the same options does it"
        reason = unsupported(set(scan(self.run.folder / "evidence.parquet").collect_schema())).get(stage)
        if reason is not None:
            return f"{stage} {reason}"
        return f"{stage} was not performed; `heedful run … --experiments {stage}` does it"
