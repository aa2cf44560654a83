"""The adversary beside the same instance by instance (`benchmarks.plain_adversary`), on evidence of all kinds."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.adversary import features_like, plain_found, scores_like
from heedful.evidence import Evidence
from heedful.experiments.adversary import adversary
from heedful.experiments.views import view_of
from heedful.measures import jsd
from tests.experiments.adversarial import random_evidence
from tests.making import make_evidence

KINDS = {
    "4 classes": lambda: random_evidence(21, n=30, shortest=9, longest=70, outputs=4),
    "6 classes, few items": lambda: random_evidence(22, n=20, shortest=1, longest=9, outputs=6),
    "5 classes, peaked": lambda: scores_like(np.full(20, 30), outputs=5, sharpness=4.0),
    "5 classes, flat": lambda: scores_like(np.full(20, 30), outputs=5, sharpness=0.0),
    "tanh": lambda: make_evidence(23, n=25, outputs=4, longest=25, decoder="tanh"),
    "tanh, long, many classes": lambda: features_like(np.full(3, 150), outputs=20, width=20),
    "tanh, flat": lambda: features_like(np.full(15, 20), outputs=3, width=40, sharpness=0.0),
}


def found_by_both(evidence: Evidence, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    frame, own = adversary(evidence, epsilon=epsilon), view_of(evidence).weights
    assert frame["tvd"].max() <= epsilon + 1e-9
    assert (frame["jsd"] <= frame["upper"] + 1e-9).all()
    plain = plain_found(evidence, epsilon)
    assert frame["upper"].to_numpy() == pytest.approx(plain.upper, abs=1e-9)
    return frame["jsd"].to_numpy(), jsd(plain.weights, own)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_is_not_lower(kind: str) -> None:
    """Both are searches: now and then one misses what the other finds."""
    fast, plain = found_by_both(KINDS[kind](), 0.01)
    assert fast.mean() >= plain.mean() - 1e-4
    assert (fast < plain - 1e-3).sum() <= (fast > plain + 1e-3).sum()
    assert (fast < plain - 2e-2).mean() <= 0.1


@pytest.mark.parametrize("decoder", ["affine", "tanh"])
@pytest.mark.parametrize("seed", [31, 32])
def test_other_epsilons(decoder: str, seed: int) -> None:
    fast, plain = found_by_both(make_evidence(seed, n=30, outputs=4, longest=20, decoder=decoder), 0.05)
    assert fast.mean() >= plain.mean() - 1e-3


def test_nothing_but_the_model_s_own_attention_is_feasible() -> None:
    """Two items for five classes, far apart."""
    evidence = random_evidence(24, n=5, shortest=2, longest=2, outputs=5)
    assert evidence.scores is not None
    evidence = replace(evidence, scores=evidence.scores.like(evidence.scores.values * 1e3))
    evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
    frame = adversary(evidence)
    assert frame["tvd"].max() <= 0.01 + 1e-9
    assert (frame["jsd"] <= frame["upper"] + 1e-9).all()
    assert not frame["jsd"].is_nan().any()
