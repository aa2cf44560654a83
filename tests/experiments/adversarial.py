"""What the tests of the adversary share: instances of all kinds, and plain versions of its formulas."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit, rel_entr

from heedful.evidence import Evidence
from heedful.ragged import Ragged
from tests.making import complete


def evidence_of(weights: list, scores: list, bias: list | None = None) -> Evidence:
    """Instances with these weights (T,) and scores (T, K)."""
    rows = Ragged.from_rows(weights, dtype=np.float32)
    scored = rows.like(np.concatenate([np.asarray(table, dtype=np.float32) for table in scores]))
    outputs = scored.values.shape[1]
    evidence = complete(rows, np.random.default_rng(0), outputs)
    tiled = np.tile(np.asarray(bias or [0.0] * outputs, dtype=np.float32), (len(rows), 1))
    evidence = replace(evidence, scores=scored, bias=tiled)
    return replace(evidence, output=evidence.decode(rows).astype(np.float32))


def random_evidence(seed: int, *, n: int, shortest: int, longest: int, outputs: int) -> Evidence:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(shortest, longest + 1, size=n)
    rows = [draw.dirichlet(np.ones(size)) for size in sizes]
    return complete(Ragged.from_rows(rows, dtype=np.float32), draw, outputs)


def plain_jsd(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    middle = (first + second) / 2
    return (rel_entr(first, middle) + rel_entr(second, middle)).sum(axis=-1) / 2


def two_class_rows(evidence: Evidence) -> list[tuple[np.ndarray, np.ndarray]]:
    """Normalised weights and log-odds of the second class, in float64."""
    assert evidence.scores is not None
    assert evidence.bias is not None
    rows = []
    for weights, scores, bias in zip(evidence.weights, evidence.scores, evidence.bias, strict=True):
        logits = scores.astype(np.float64) + bias.astype(np.float64)
        own = weights.astype(np.float64)
        rows.append((own / own.sum(), logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0.0)))
    return rows


def slab(weights: np.ndarray, odds: np.ndarray, epsilon: float) -> tuple[float, float]:
    own = float(weights @ odds)
    yes, no = float(expit(own)), float(expit(-own))
    low = math.log((yes - epsilon) / (no + epsilon)) if yes > epsilon else -math.inf
    high = math.log((yes + epsilon) / (no - epsilon)) if no > epsilon else math.inf
    return low, high


@st.composite
def instances(draw: st.DrawFn, outputs: int) -> Evidence:
    size = draw(st.integers(1, 7))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["any", "counts", "peaked", "one-hot", "uniform", "rising"]))
    counts = random.integers(0, 4, size)
    weights = {
        "any": random.dirichlet(np.ones(size)),
        "counts": counts / counts.sum() if counts.any() else np.eye(size)[0],
        "peaked": (np.eye(size)[0] + 1e-12) / (1 + 1e-12 * size),
        "one-hot": np.eye(size)[size - 1],
        "uniform": np.full(size, 1 / size),
        "rising": np.sort(random.dirichlet(np.ones(size))),
    }[kind]
    drawn = random.normal(0, draw(st.sampled_from([0.01, 2, 30, 1000])), (size, outputs))
    scores = {
        "any": drawn,
        "whole": drawn.round(),
        "equal": np.repeat(drawn[:1], size, axis=0),
        "rising": np.sort(drawn, axis=0),
    }[draw(st.sampled_from(["any", "whole", "equal", "rising"]))]
    return evidence_of([weights], [scores], bias=random.normal(size=outputs).tolist())
