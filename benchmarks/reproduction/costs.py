"""Wall time and memory of every run, stage by stage."""

from collections.abc import Sequence

from benchmarks.reproduction.markdown import table
from benchmarks.reproduction.reading import corpus_name, model_name
from heedful.report.tables.table import UNKNOWN
from heedful.runs.directory import Run

_STAGES = ("train", "evidence", "importance")


def costs(runs: Sequence[Run]) -> str:
    """One row a run."""
    rows = []
    for run in runs:
        manifest = run.manifest
        seconds = {name: cost["seconds"] for name, cost in manifest["stages"].items()}
        experiments = {name: cost for name, cost in seconds.items() if name not in (*_STAGES, "prepare")}
        longest = max(experiments, key=lambda name: experiments[name], default=None)
        rest = sum(cost for name, cost in experiments.items() if name != longest)
        sizes = (f"{sum(manifest['corpus']['counts'][split]):,}" for split in ("train", "test"))
        memory = max(cost["peak_memory_mb"] or 0 for cost in manifest["stages"].values()) / 1000
        rows.append(
            [
                corpus_name(run),
                model_name(run),
                str(run.config.seed),
                " / ".join(sizes),
                str(run.config.training.epochs),
                *(f"{seconds[stage]:,.0f}" if stage in seconds else UNKNOWN for stage in _STAGES),
                UNKNOWN if longest is None else f"{seconds[longest]:,.0f} ({longest.replace('_', ' ')})",
                f"{rest:,.0f}",
                f"{memory:.1f}",
            ]
        )
    head = ["corpus", "model", "seed", "train / test", "epochs", *(f"{stage}, s" for stage in _STAGES)]
    return table([*head, "longest experiment, s", "the others, s", "memory, GB"], rows, left=2)
