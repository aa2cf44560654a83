"""Evidence made up for tests, awkward instances included."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from heedful.evidence import Evidence
from heedful.list_columns import list_column
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys
from heedful.tanh_decoder import TanhDecoder

Decoder = Literal["affine", "tanh"]
FEATURES = 4


def make_evidence(
    seed: int = 0, *, n: int = 5, outputs: int = 1, longest: int = 6, decoder: Decoder = "affine"
) -> Evidence:
    """Random instances that decode to their own outputs."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, longest + 1, size=n)
    weights = Ragged.from_rows([draw.dirichlet(np.ones(size)) for size in sizes], dtype=np.float32)
    return complete(weights, draw, outputs, decoder)


def awkward_evidence(outputs: int = 1, decoder: Decoder = "affine") -> Evidence:
    """One item; constant attention; ties; exact zeros; nearly all weight on one item; items that all say the same.

    With a decoder that mixes features, the first instance and the last have one candidate only.
    """
    rows = [[1.0], [0.25] * 4, [0.4, 0.4, 0.2], [0.0, 1.0, 0.0], [1 - 1e-12, 1e-12, 0.0, 0.0], [0.5, 0.3, 0.2]]
    evidence = complete(Ragged.from_rows(rows, dtype=np.float64), np.random.default_rng(0), outputs, decoder)
    said = evidence.features if evidence.scores is None else evidence.scores
    assert said is not None
    said.values[-3:] = said.values[-1]
    if decoder == "tanh":
        every = list(range(outputs))
        candidates = Ragged.from_rows([every[-1:], *[every] * (len(rows) - 2), every[:1]], dtype=np.int32)
        evidence = replace(evidence, candidates=candidates)
    return replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))


def complete(weights: Ragged, draw: np.random.Generator, outputs: int, decoder: Decoder = "affine") -> Evidence:
    """The rest of evidence of these weights, drawn at random."""
    n, items = len(weights), len(weights.values)
    evidence = Evidence(
        ids=[f"i{index}" for index in range(n)],
        tokens=weights.like(np.array([f"w{index}" for index in range(items)], dtype=object)),
        weights=weights,
        output=np.zeros((n, outputs), dtype=np.float32),
        **(_scores if decoder == "affine" else _features)(weights, draw, outputs),
        labels=draw.integers(0, max(2, outputs), size=n).astype(np.int32),
        truth=weights.like(draw.random(items) < 0.3),
        classes=tuple("abcdefghijkl"[: max(2, outputs)]),
        provenance={"made": "here"},
    )
    return replace(evidence, output=evidence.decode(weights).astype(np.float32))


def _scores(weights: Ragged, draw: np.random.Generator, outputs: int) -> dict[str, Any]:
    scores = draw.normal(0, 2, (len(weights.values), outputs)).astype(np.float32)
    return {
        "scores": weights.like(scores),
        "bias": np.tile(draw.normal(size=outputs).astype(np.float32), (len(weights), 1)),
    }


def _features(weights: Ragged, draw: np.random.Generator, outputs: int) -> dict[str, Any]:
    def normal(*shape: int) -> np.ndarray:
        return draw.normal(0, 1.5, shape).astype(np.float32)

    kept = draw.random((len(weights), outputs)) < 0.7
    kept[np.arange(len(weights)), draw.integers(0, outputs, len(weights))] = True
    return {
        "features": weights.like(normal(len(weights.values), FEATURES)),
        "context": normal(len(weights), FEATURES),
        "candidates": Ragged.from_lengths(np.nonzero(kept)[1].astype(np.int32), kept.sum(axis=1)),
        "decoder": TanhDecoder(normal(outputs, FEATURES), normal(outputs)),
    }


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
                "values": list_column(evidence.weights.like(Stream(0, f"{measure} {output}").normal(names, positions))),
            }
        )
        for measure, output in kinds
    )


def as_older(folder: Path) -> Path:
    """A run or audit as older versions left it: without hashes, so that tests may change its files."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for key in ("format", "digest", "files"):
        manifest.pop(key, None)
    for entry in manifest["stages"].values():
        entry.pop("files", None)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return folder
