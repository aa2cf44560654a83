"""The paper's search against torch, and against the exact answers that it must not exceed."""

import numpy as np
import polars as pl
import pytest
import torch
from polars.testing import assert_frame_equal

from heedful.evidence import Evidence
from heedful.experiments.adversaries import paper_search as search
from heedful.experiments.adversaries.paper_search import AffineBatch, Objective
from heedful.experiments.adversary import adversary
from heedful.experiments.affine_view import AffineView
from tests.experiments.adversarial import random_evidence, torch_objective
from tests.making import make_evidence


@pytest.mark.parametrize("preset", ["paper", "released"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_search_in_any_batch_and_order(preset: str, outputs: int) -> None:
    evidence = make_evidence(n=9, outputs=outputs)

    def found(part: Evidence, seed: int = 0) -> pl.DataFrame:
        return adversary(part, method="search", preset=preset, steps=60, seed=seed)

    whole = found(evidence)
    assert_frame_equal(found(evidence), whole, check_exact=True)
    assert_frame_equal(pl.concat([found(batch) for batch in evidence.batches(2)]), whole, abs_tol=1e-9)
    backwards = Evidence.from_frame(evidence.to_frame().reverse())
    assert_frame_equal(found(backwards).reverse(), whole, abs_tol=1e-9)
    assert not found(evidence, seed=1)["jsd"].equals(whole["jsd"])


def test_search_approaches_the_optimum_from_below() -> None:
    evidence = random_evidence(5, n=40, shortest=5, longest=12, outputs=1)
    means = [adversary(evidence, method="search", steps=steps)["jsd"].mean() for steps in (20, 200, 1500)]
    assert means[0] < means[1] < means[2] < adversary(evidence)["jsd"].mean() < means[2] + 0.15


def test_released_search_selects_more_loosely() -> None:
    evidence = random_evidence(6, n=60, shortest=3, longest=8, outputs=1)
    frame = adversary(evidence, method="search", preset="released", steps=30)
    assert 0.01 < frame["tvd"].max() <= 0.05
    assert_frame_equal(frame.select("upper"), adversary(evidence, epsilon=0.05).select("upper"), abs_tol=1e-9)


def torch_loss(free: torch.Tensor, batch: AffineBatch, objective: Objective, outputs: int) -> torch.Tensor:
    """The paper's objective, plainly: (T, k, B) logits, hinge on the outputs' distance."""
    own, odds = torch.from_numpy(batch.own), torch.from_numpy(batch.odds)
    attention = free.masked_fill(~torch.from_numpy(batch.real), -torch.inf).softmax(dim=0)

    def output(weights: torch.Tensor) -> torch.Tensor:
        logits = (weights * odds).sum(dim=1)  # (K - 1, k, B)
        return torch.cat([torch.zeros_like(logits[:1]), logits]).softmax(dim=0)

    apart = (output(attention) - output(own)).abs()
    distance = apart[1] if outputs == 1 else objective.distance * apart.sum(dim=0) / 2
    return torch_objective(attention, own, distance, objective)


@pytest.mark.parametrize("preset", ["paper", "released"])
@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_search_is_adam_on_the_objective(preset: search.Preset, outputs: int) -> None:
    """The gradient is autograd's, and the steps are those of torch's Adam with amsgrad."""
    margins = AffineView.of(make_evidence(4, n=6, outputs=outputs, longest=7))
    batch = AffineBatch.of(margins.weights, margins.alone)
    objective = Objective.of(preset, epsilon=0.01, distributions=3, outputs=outputs)
    start = np.random.default_rng(0).normal(0, 3, (len(batch.own), 3, 6))
    free = torch.from_numpy(start.copy()).requires_grad_()
    torch_loss(free, batch, objective, outputs).backward()
    ours = search.gradient(start, batch, objective, batch.decode(batch.own)[0])
    assert free.grad is not None
    assert np.abs(ours - free.grad.numpy()).max() < 1e-10 * max(1.0, np.abs(ours).max())
    adam = torch.optim.Adam([free], lr=0.01, amsgrad=True)
    for _ in range(30):
        adam.zero_grad()
        torch_loss(free, batch, objective, outputs).backward()
        adam.step()
    moved = search.minimise(start, batch, objective, 30)
    apart = np.abs(moved - free.detach().numpy())[np.broadcast_to(batch.real, moved.shape)]
    assert apart.max() < 1e-8


def test_presets_differ_as_paper_and_code_do() -> None:
    paper = Objective.of("paper", epsilon=0.01, distributions=5, outputs=3)
    assert paper == Objective(epsilon=0.01, penalty=100.0, diversity=1 / 20, distance=1.0)
    released = Objective.of("released", epsilon=0.01, distributions=5, outputs=3)
    assert released == Objective(epsilon=0.01, penalty=500.0, diversity=2 / 25, distance=2.0)
    assert Objective.of("released", epsilon=0.01, distributions=5, outputs=1).distance == 1.0


def never_beaten_by_search(outputs: int, n: int, steps: int) -> None:
    evidence = random_evidence(outputs, n=n, shortest=2, longest=12, outputs=outputs)
    exact = adversary(evidence)
    searched = adversary(evidence, method="search", steps=steps)
    assert (searched["jsd"] <= exact["jsd"] + 1e-6).all()
    assert (searched["jsd"] <= exact["upper"] + 1e-9).all()
    assert searched["jsd"].mean() < exact["jsd"].mean()
    assert searched["tvd"].max() <= 0.01
    assert np.abs((searched["upper"] - exact["upper"]).to_numpy()).max() < 1e-9


@pytest.mark.parametrize(("outputs", "n"), [(1, 1000), (3, 40), (4, 25), (5, 25)])
def test_search_never_beats_it(outputs: int, n: int) -> None:
    never_beaten_by_search(outputs, n, steps=40)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 2, 3, 4, 5])
def test_full_search_never_beats_it(outputs: int) -> None:
    never_beaten_by_search(outputs, 1000, steps=500)
