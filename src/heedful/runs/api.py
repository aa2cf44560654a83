"""`heedful.run`: the command `heedful run` as a function."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful.runs.directory import Run
from heedful.runs.execution import perform


def run(
    corpus: str,
    *,
    out: Path | str = "runs",
    data: Path | str | None = None,
    experiments: str | Sequence[str] | None = None,
    workers: int = 1,
    **values: Any,
) -> Run:
    """Train a model on a corpus, write its evidence and perform experiments on it, or resume what is there of that.

    `experiments` are named as in `heedful.experiments`; None means all usual ones, an empty list none, "all" every one.
    So many `workers` (processes) share importance and experiments; results do not depend on their number.
    `values` are those of a configuration file: `encoder`, `attention`, `preset`, `seed`, `subset`, `threads`, and the
    tables `corpus_options`, `vocabulary`, `embedding`, `encoder_options`, `training`, `importance` and
    `experiment_options` as dictionaries.
    """
    return perform({"corpus": corpus, **values}, out=out, data=data, experiments=experiments, workers=workers)
