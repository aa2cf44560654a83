"""What the tests of the adversary share: instances of all kinds, and plain versions of its formulas."""

import math
from dataclasses import replace

import numpy as np
import torch
from hypothesis import strategies as st
from scipy.special import expit, rel_entr

from heedful.evidence import Evidence
from heedful.experiments.adversaries.paper_search import Objective
from heedful.ragged import Ragged
from heedful.tanh_decoder import TanhDecoder
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


def nearly_affine(evidence: Evidence, scale: float = 2.0**-8) -> Evidence:
    """The same with a decoder that is affine but for the curvature of tanh near 0."""
    assert evidence.scores is not None
    assert evidence.bias is not None
    outputs = evidence.outputs
    decoder = TanhDecoder((np.eye(outputs) / scale).astype(np.float32), evidence.bias[0])
    features = evidence.scores.like((evidence.scores.values * scale).astype(np.float32))
    context = np.zeros((len(evidence), outputs), dtype=np.float32)
    return replace(evidence, scores=None, bias=None, features=features, context=context, decoder=decoder)


@st.composite
def decoded_instances(draw: st.DrawFn) -> Evidence:
    """Few items, classes and features: decoders that are nearly affine, curved, or steps."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    outputs, size, width = draw(st.integers(2, 5)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["any", "one-hot", "uniform", "peaked"]))
    own = {
        "any": random.dirichlet(np.ones(size)),
        "one-hot": np.eye(size)[size - 1],
        "uniform": np.full(size, 1 / size),
        "peaked": (np.eye(size)[0] + 1e-12) / (1 + 1e-12 * size),
    }[kind]
    weights = Ragged.from_rows([own], dtype=np.float32)
    features = draw(st.sampled_from([0.01, 1.0, 5.0, 1e4])) * random.normal(size=(size, width))
    if draw(st.booleans()):
        features = features.round()  # equal items, and ties
    candidates = np.sort(random.choice(outputs, random.integers(1, outputs + 1), replace=False))
    evidence = replace(
        complete(weights, random, outputs, "tanh"),
        features=weights.like(features.astype(np.float32)),
        context=random.normal(size=(1, width)).astype(np.float32),
        candidates=Ragged.from_rows([candidates], dtype=np.int32) if draw(st.booleans()) else None,
        decoder=TanhDecoder(
            (draw(st.sampled_from([0.1, 1.0, 10.0])) * random.normal(size=(outputs, width))).astype(np.float32),
            random.normal(size=outputs).astype(np.float32),
        ),
    )
    return replace(evidence, output=evidence.decode(weights).astype(np.float32))


def torch_objective(
    attention: torch.Tensor, own: torch.Tensor, distance: torch.Tensor, objective: Objective
) -> torch.Tensor:
    """The paper's objective, plainly: attention (T, k, B), the model's own (T, 1, B), outputs at distances (k, B)."""

    def divergence(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        m = (p + q) / 2
        log_m = (m + 1e-10).log()
        return (p * ((p + 1e-10).log() - log_m) + q * ((q + 1e-10).log() - log_m)).sum(dim=0) / 2

    loss = (objective.penalty * (distance - objective.epsilon).relu() - divergence(attention, own)).sum()
    for i in range(attention.shape[1]):
        for j in range(i):
            loss = loss - objective.diversity * divergence(attention[:, i], attention[:, j]).sum()
    return loss
