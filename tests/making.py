"""Evidence made up for tests, awkward instances included."""

from dataclasses import replace

import numpy as np
import polars as pl

from heedful.evidence import Evidence
from heedful.nested import nested
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys


def make_evidence(seed: int = 0, *, n: int = 5, outputs: int = 1, longest: int = 6) -> Evidence:
    """Random instances that decode to their own outputs."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, longest + 1, size=n)
    weights = Ragged.from_rows([draw.dirichlet(np.ones(size)) for size in sizes], dtype=np.float32)
    return complete(weights, draw, outputs)


def awkward_evidence(outputs: int = 1) -> Evidence:
    """One item; constant attention; ties; exact zeros; nearly all weight on one item; items that all say the same."""
    rows = [[1.0], [0.25] * 4, [0.4, 0.4, 0.2], [0.0, 1.0, 0.0], [1 - 1e-12, 1e-12, 0.0, 0.0], [0.5, 0.3, 0.2]]
    evidence = complete(Ragged.from_rows(rows, dtype=np.float64), np.random.default_rng(0), outputs)
    assert evidence.scores is not None
    evidence.scores.values[-3:] = evidence.scores.values[-1]
    return replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))


def complete(weights: Ragged, draw: np.random.Generator, outputs: int) -> Evidence:
    n, items = len(weights), len(weights.values)
    evidence = Evidence(
        ids=[f"i{index}" for index in range(n)],
        tokens=weights.like(np.array([f"w{index}" for index in range(items)], dtype=object)),
        weights=weights,
        output=np.zeros((n, outputs), dtype=np.float32),
        scores=weights.like(draw.normal(0, 2, (items, outputs)).astype(np.float32)),
        bias=np.tile(draw.normal(size=outputs).astype(np.float32), (n, 1)),
        labels=draw.integers(0, max(2, outputs), size=n).astype(np.int32),
        truth=weights.like(draw.random(items) < 0.3),
        classes=tuple("abcdefghijkl"[: max(2, outputs)]),
        provenance={"made": "here"},
    )
    return replace(evidence, output=evidence.decode(weights).astype(np.float32))


def instance(weights: list[float], scores: list[float], bias: float = 0.0) -> Evidence:
    """One instance of a sigmoid model, in double precision."""
    rows = Ragged.from_rows([weights], dtype=np.float64)
    evidence = Evidence(
        ids=["only"],
        tokens=rows.like(np.array([f"w{item}" for item in range(len(weights))], dtype=object)),
        weights=rows,
        output=np.zeros((1, 1)),
        scores=rows.like(np.array(scores, dtype=np.float64)[:, None]),
        bias=np.array([[bias]]),
    )
    return replace(evidence, output=evidence.decode(rows))


def make_importance(evidence: Evidence) -> pl.DataFrame:
    """Made-up importance that an instance keeps in any batch: a `gradient` for each output, and a `leave_one_out`."""
    rows = evidence.weights.row_of_value
    names, positions = keys(evidence.ids)[rows], np.arange(len(rows)) - evidence.weights.offsets[rows]
    kinds = [("gradient", output) for output in range(evidence.outputs)] + [("leave_one_out", None)]
    return pl.concat(
        pl.DataFrame(
            {
                "id": list(evidence.ids),
                "measure": measure,
                "output": pl.Series([output] * len(evidence), dtype=pl.Int32),
                "values": nested(evidence.weights.like(Stream(0, f"{measure} {output}").normal(names, positions))),
            }
        )
        for measure, output in kinds
    )
