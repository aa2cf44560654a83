"""Removals done the plain way: weights set to zero, the others renormalised, everything decoded again."""

from dataclasses import replace

import numpy as np

from heedful.evidence import Evidence, decide
from heedful.experiments.view import normalised
from heedful.ragged import Ragged
from tests.making import Decoder, awkward_evidence, make_evidence


def made(seed: int, outputs: int, decoder: Decoder) -> Evidence:
    """Random evidence, some of it awkward."""
    if seed % 5 == 0:
        return awkward_evidence(outputs, decoder)
    return make_evidence(seed, n=5, outputs=outputs, longest=8, decoder=decoder)


def own_weights(evidence: Evidence) -> np.ndarray:
    """Of the only instance, in double precision."""
    return normalised(evidence.weights).values


def without(one: Evidence, removed: list[int]) -> np.ndarray:
    """The output (K,) of an instance without some of its items."""
    weights = own_weights(one).copy()
    weights[removed] = 0
    total = weights.sum()
    return one.decode(one.weights.like(weights / total if total > 0 else weights))[0]


def two_classes(output: np.ndarray) -> np.ndarray:
    """A sigmoid's output as probabilities of both classes."""
    return np.array([1 - output[0], output[0]]) if len(output) == 1 else output


def first_flip(one: Evidence, order: list[int]) -> int | None:
    """How many items are removed when the decision changes; None: it never does."""
    decided = decide(without(one, []))
    for count in range(1, len(order) + 1):
        if decide(without(one, order[:count])) != decided:
            return count
    return None


def affine(weights: Ragged, scores: np.ndarray, bias: np.ndarray) -> Evidence:
    """Evidence in double precision."""
    evidence = Evidence(
        ids=[f"i{row}" for row in range(len(weights))],
        tokens=weights.like(np.full(len(weights.values), "w", dtype=object)),
        weights=weights,
        output=np.zeros((len(weights), scores.shape[1])),
        scores=weights.like(scores),
        bias=bias,
    )
    return replace(evidence, output=evidence.decode(weights))
