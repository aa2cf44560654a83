"""`heedful.run`: the command `heedful run` as a function."""

from pathlib import Path
from typing import Any

from heedful.runs.directory import Run
from heedful.runs.execution import perform


def run(
    corpus: str,
    *,
    out: Path | str = "runs",
    data: Path | str | None = None,
    **values: Any,
) -> Run:
    """Train a model on a corpus and write its evidence, or resume and return the run that is there.

    `values` are those of a configuration file: `encoder`, `attention`, `preset`, `seed`, `subset`, `threads`, and the
    tables `corpus_options`, `vocabulary`, `embedding`, `encoder_options` and `training` as dictionaries.
    """
    return perform({"corpus": corpus, **values}, out=out, data=data)
