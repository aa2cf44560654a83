"""The adversary of decoders that are not affine: feasible, bounded, and never beaten by the paper's search."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful.evidence import Evidence
from heedful.experiments.adversaries import paper_search as search
from heedful.experiments.adversaries.blocks import blocks
from heedful.experiments.adversaries.divergence import decoder_free_bound
from heedful.experiments.adversaries.paper_search import Objective, TanhBatch, batches
from heedful.experiments.adversary import adversary
from heedful.experiments.tanh_view import TanhView
from heedful.ragged import Ragged
from heedful.randomness import keys
from tests.experiments.adversarial import decoded_instances, nearly_affine, plain_jsd, torch_objective
from tests.making import awkward_evidence, make_evidence
from tests.strategies import examples


@examples(60)
@given(evidence=decoded_instances(), epsilon=st.sampled_from([0.01, 0.05, 0.5]))
def test_any_decoder_is_answered_within_its_bounds(evidence: Evidence, epsilon: float) -> None:
    found = adversary(evidence, epsilon=epsilon, steps=30).row(0, named=True)
    searched = adversary(evidence, epsilon=epsilon, steps=30, method="search").row(0, named=True)
    own, other = TanhView.of(evidence).weights, np.array(found["weights"])
    assert found["tvd"] <= epsilon + 1e-9
    assert found["jsd"] <= found["upper"] + 1e-9
    assert found["jsd"] >= searched["jsd"] - 1e-6
    assert found["upper"] == pytest.approx(decoder_free_bound(own)[0], abs=1e-9)
    assert other.min() >= 0
    assert other.sum() == pytest.approx(1, abs=1e-9)
    assert plain_jsd(other, own[0]) == pytest.approx(found["jsd"], abs=1e-9)
    moved = np.abs(evidence.decode(own.like(other)) - evidence.decode(own)).sum() / 2
    assert moved == pytest.approx(found["tvd"], abs=1e-9)
    if evidence.candidates is not None and len(evidence.candidates.values) == 1:
        assert found["certified"]


def test_one_candidate_leaves_every_attention_feasible() -> None:
    evidence = make_evidence(3, n=20, outputs=4, decoder="tanh")
    evidence = replace(evidence, candidates=Ragged.from_rows([[2]] * 20, dtype=np.int32))
    evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
    frame = adversary(evidence)
    assert frame["certified"].all()
    assert frame["jsd"].to_numpy() == pytest.approx(decoder_free_bound(TanhView.of(evidence).weights), abs=1e-12)
    assert set(frame["adversary_decision"]) == {2}


def test_the_lightest_item_is_the_optimum_if_it_says_the_same() -> None:
    evidence = make_evidence(4, n=12, outputs=3, decoder="tanh")
    assert evidence.features is not None
    evidence.features.values[:] = evidence.features.values[0]
    evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
    frame = adversary(evidence)
    assert frame["certified"].all()
    for weights, own in zip(frame["weights"], evidence.weights, strict=True):
        assert weights.arg_max() == own.argmin()
        assert weights.max() == 1.0


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_awkward_instances(preset: str) -> None:
    frame = adversary(awkward_evidence(4, "tanh"), steps=20)
    assert frame["tvd"].max() <= 0.01 + 1e-9
    assert (frame["jsd"] <= frame["upper"]).all()
    assert frame.row(0, named=True)["certified"]  # one item
    assert frame["certified"][-1]  # one candidate
    searched = adversary(awkward_evidence(4, "tanh"), method="search", preset=preset, steps=20)
    assert searched.schema == frame.schema
    assert searched["tvd"].max() <= (0.01 if preset == "paper" else 0.05)


def test_it_finds_much_more_than_the_search() -> None:
    """In the mean 0.543 against 0.420; without climbs it is 0.514."""
    evidence = make_evidence(7, n=40, outputs=4, longest=20, decoder="tanh")
    found, searched = adversary(evidence), adversary(evidence, method="search")
    assert (searched["jsd"] <= found["jsd"] + 1e-6).all()
    assert found["jsd"].mean() > 0.54
    assert searched["jsd"].mean() < 0.43
    assert found["tvd"].max() <= 0.01 + 1e-9


@pytest.mark.parametrize("outputs", [2, 3])
def test_a_decoder_in_its_linear_range_has_the_affine_answer(outputs: int) -> None:
    affine = make_evidence(8, n=30, outputs=outputs, longest=12)
    decoded = nearly_affine(affine)
    exact, found = adversary(affine), adversary(decoded)
    assert (found["jsd"] <= exact["upper"] + 1e-3).all()
    assert found["jsd"].mean() > exact["jsd"].mean() - 0.02
    near, plain = (adversary(each, method="search", steps=10) for each in (decoded, affine))
    assert np.abs((near["jsd"] - plain["jsd"]).to_numpy()).max() < 1e-3
    assert (near["jsd"] <= found["jsd"] + 1e-6).all()


def test_long_and_short_instances_in_any_batch_and_order() -> None:
    evidence = make_evidence(9, n=9, outputs=12, longest=40, decoder="tanh")
    for method in ("exact", "search"):
        whole = adversary(evidence, method=method, steps=60)
        parts = pl.concat([adversary(batch, method=method, steps=60) for batch in evidence.batches(2)])
        assert_frame_equal(parts, whole, abs_tol=1e-9)


def tanh_batch(evidence: Evidence) -> TanhBatch:
    ((_, batch),) = batches(TanhView.of(evidence))
    assert isinstance(batch, TanhBatch)
    return batch


@pytest.mark.parametrize("all_classes", [True, False])
def test_batches_decode_as_evidence_does(all_classes: bool) -> None:
    evidence = make_evidence(10, n=6, outputs=5, longest=7, decoder="tanh")
    if all_classes:
        evidence = replace(evidence, candidates=None)
        evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
    batch = tanh_batch(evidence)
    output, _ = batch.decode(batch.own)  # (C, 1, B)
    plain = evidence.decode(TanhView.of(evidence).weights)
    allowed = np.ones_like(plain, dtype=bool) if evidence.allowed is None else evidence.allowed
    for row, (probabilities, mask) in enumerate(zip(plain, allowed, strict=True)):
        mine = output[:, 0, row]
        assert mine[: mask.sum()] == pytest.approx(probabilities[mask], abs=1e-12)
        assert not mine[mask.sum() :].any()


def torch_loss(free: torch.Tensor, batch: TanhBatch, objective: Objective) -> torch.Tensor:
    """The paper's objective through the decoder, plainly: (T, k, B) logits."""
    own, features, context, matrix, bias = (
        torch.from_numpy(np.asarray(array))
        for array in (batch.own, batch.features, batch.context, batch.matrix, batch.bias)
    )
    attention = free.masked_fill(~torch.from_numpy(batch.real), -torch.inf).softmax(dim=0)

    def output(weights: torch.Tensor) -> torch.Tensor:
        mixed = torch.einsum("tkb,btf->bkf", weights, features) + context
        return (mixed.tanh() @ matrix.transpose(1, 2) + bias).softmax(dim=2)  # (B, k, C)

    distance = objective.distance * (output(attention) - output(own)).abs().sum(dim=2).T / 2  # (k, B)
    return torch_objective(attention, own, distance, objective)


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_the_gradient_goes_through_the_decoder(preset: search.Preset) -> None:
    """It is that of finite differences, and the steps are those of torch's Adam with amsgrad."""
    batch = tanh_batch(make_evidence(11, n=6, outputs=4, longest=7, decoder="tanh"))
    objective = Objective.of(preset, epsilon=0.01, distributions=3, outputs=4)
    start = np.random.default_rng(0).normal(0, 3, (len(batch.own), 3, 6))
    ours = search.gradient(start, batch, objective, batch.decode(batch.own)[0])
    for cell in np.random.default_rng(1).choice(start.size, 25, replace=False):
        step = np.zeros_like(start)
        step.flat[cell] = 1e-6
        up, down = (float(torch_loss(torch.from_numpy(start + sign * step), batch, objective)) for sign in (1, -1))
        assert ours.flat[cell] == pytest.approx((up - down) / 2e-6, abs=1e-5 * max(1.0, np.abs(ours).max()))
    free = torch.from_numpy(start.copy()).requires_grad_()
    adam = torch.optim.Adam([free], lr=0.01, amsgrad=True)
    for _ in range(30):
        adam.zero_grad()
        torch_loss(free, batch, objective).backward()
        adam.step()
    moved = search.minimise(start, batch, objective, 30)
    apart = np.abs(moved - free.detach().numpy())[np.broadcast_to(batch.real, moved.shape)]
    assert apart.max() < 1e-8


def test_items_by_the_tangent_are_those_of_finite_differences() -> None:
    """Logits move from a point towards an item as much as the tangent says that the item's differ from the point's."""
    evidence = make_evidence(12, n=3, outputs=4, longest=7, decoder="tanh")
    for _, block in blocks(TanhView.of(evidence), keys(evidence.ids), np.arange(3)):
        points = np.random.default_rng(0).dirichlet(np.ones(block.shape.items), (len(block.keys), 5))
        kept = np.broadcast_to(block.kept[:, None], (*points.shape[:2], block.shape.classes))
        for item, alone in enumerate(np.eye(block.shape.items)):
            here, up, down = (
                block.logits((points + step * (alone - points)) @ block.vectors)[kept] for step in (0, 1e-6, -1e-6)
            )
            assert block.item_logits(points)[:, :, item][kept] == pytest.approx(here + (up - down) / 2e-6, abs=1e-6)
