"""Why a run has no results of an experiment: it is said, never hidden."""

from heedful.evidence import scan
from heedful.runs.directory import Run
from heedful.runs.experimenting import unsupported


def lacking(run: Run, stage: str) -> str | None:
    """The reason in words; None if there are results."""
    if run.done(stage):
        return None
    if not run.done("evidence"):
        return "the model is not trained and tested yet; `heedful run` with the same options does it"
    reason = unsupported(set(scan(run.folder / "evidence.parquet").collect_schema())).get(stage)
    if reason is not None:
        return f"{stage} {reason}"
    return f"{stage} {run.undone(stage)}"
