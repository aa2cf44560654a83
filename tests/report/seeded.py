"""Made-up runs of any configuration, several seeds of which see the same instances."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heedful.evidence import Evidence
from heedful.ragged import Ragged
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from tests.making import complete, make_evidence
from tests.report.made_run import made_run


def seeded(evidence: Evidence, seed: int) -> Evidence:
    """The same instances seen by another model, which is mostly right."""
    assert evidence.labels is not None
    draw = np.random.default_rng(100 + seed)
    rows = [draw.dirichlet(np.ones(size)) for size in evidence.weights.lengths]
    other = complete(Ragged.from_rows(rows, dtype=np.float32), draw, evidence.outputs)
    assert other.scores is not None
    label = evidence.labels[other.weights.row_of_value]  # (N,)
    if evidence.outputs == 1:
        other.scores.values[:, 0] += 4 * label - 2
    else:
        other.scores.values[np.arange(len(label)), label] += 3
    output = other.decode(other.weights).astype(np.float32)
    return replace(other, tokens=evidence.tokens, labels=evidence.labels, output=output)


def run_as(
    folder: Path, *, n: int = 60, outputs: int = 1, experiments: tuple[str, ...] = (), seed: int = 0, **values: Any
) -> Run:
    """A made-up run of a configuration; its instances are those of all others with as many."""
    base = make_evidence(7, n=n, outputs=outputs)
    run = made_run(folder, seeded(base, seed), experiments=experiments)
    (run.folder / "config.toml").unlink()
    run = Run(run.folder, resolve({"corpus": "planted", "seed": seed, **values}))
    run.write_config()
    return run
