"""The adversary against brute force where two classes have an exact answer, and what holds of it everywhere."""

import math
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from heedful.errors import BadConfig, BadInput
from heedful.experiments.adversaries import two_classes as slabs
from heedful.experiments.adversaries.divergence import Found
from heedful.experiments.adversary import adversary
from heedful.experiments.affine_view import AffineView
from heedful.ragged import Ragged
from tests.experiments.adversarial import evidence_of, instances, plain_jsd, random_evidence, slab, two_class_rows
from tests.making import awkward_evidence, complete, make_evidence


def brute_force(weights: np.ndarray, odds: np.ndarray, epsilon: float) -> float:
    """The most divergent vertex of the simplex cut by the slab, one after the other."""
    low, high = slab(weights, odds, epsilon)
    items = np.eye(len(weights))
    found = [plain_jsd(items[t], weights) for t in range(len(weights)) if low <= odds[t] <= high]
    for bound in (low, high):
        for i in range(len(weights)):
            for j in range(len(weights)):
                if odds[i] < bound < odds[j] and math.isfinite(bound):
                    share = (odds[j] - bound) / (odds[j] - odds[i])
                    found.append(plain_jsd(share * items[i] + (1 - share) * items[j], weights))
    return float(max(found))


@pytest.mark.parametrize("outputs", [1, 2])
@given(data=st.data(), epsilon=st.sampled_from([0.001, 0.01, 0.05, 0.3, 0.7]))
def test_two_classes_equal_brute_force(outputs: int, data: st.DataObject, epsilon: float) -> None:
    evidence = data.draw(instances(outputs))
    found = adversary(evidence, epsilon=epsilon).row(0, named=True)
    ((weights, odds),) = two_class_rows(evidence)
    assert found["jsd"] == pytest.approx(brute_force(weights, odds, epsilon), abs=1e-9)
    assert found["upper"] == pytest.approx(found["jsd"], abs=1e-12)
    assert found["certified"]
    assert found["tvd"] <= epsilon + 1e-9
    assert sum(found["weights"]) == pytest.approx(1, abs=1e-12)
    assert plain_jsd(np.array(found["weights"]), weights) == pytest.approx(found["jsd"], abs=1e-12)
    assert abs(expit(np.dot(found["weights"], odds)) - expit(weights @ odds)) == pytest.approx(found["tvd"], abs=1e-12)


def test_items_on_the_bounds() -> None:
    """The output is one half, and an epsilon lets the log-odds move by exactly one."""
    evidence = evidence_of([[0.3, 0.2, 0.2, 0.3]], [[[1.0], [-1.0], [1.0], [-1.0]]])
    found = adversary(evidence, epsilon=float(expit(1.0)) - 0.5).row(0, named=True)
    weights, _ = two_class_rows(evidence)[0]
    assert found["jsd"] == pytest.approx(plain_jsd(np.array([0.0, 1.0, 0.0, 0.0]), weights), abs=1e-9)
    assert found["tvd"] <= expit(1.0) - 0.5 + 1e-9


def test_long_rows_equal_brute_force() -> None:
    """All pairs at once; attention that rises with the scores leaves no pair out."""
    draw = np.random.default_rng(0)
    sizes = (150, 400, 150, 400)
    weights = [draw.dirichlet(np.ones(size)) for size in sizes]
    scores = [draw.normal(0, 5, (size, 1)) for size in sizes]
    weights[1].sort()
    scores[1].sort(axis=0)
    scores = [table - own @ table for own, table in zip(weights, scores, strict=True)]  # far from certain
    evidence = evidence_of(weights, scores)
    found = adversary(evidence)["jsd"]
    for value, (own, odds) in zip(found, two_class_rows(evidence), strict=True):
        best = 0.0
        for bound in slab(own, odds, 0.01):
            i, j = np.meshgrid(np.flatnonzero(odds < bound), np.flatnonzero(odds > bound), indexing="ij")
            share = (odds[j] - bound) / (odds[j] - odds[i])
            mixed, kept = np.stack([share, 1 - share], axis=-1), np.stack([own[i], own[j]], axis=-1)
            rest = (1 - kept.sum(axis=-1)) * math.log(2) / 2  # of items that lose all their weight
            best = max(best, float((plain_jsd(mixed, kept) + rest).max()))
        low, high = slab(own, odds, 0.01)
        single = own[(low <= odds) & (odds <= high)].min(initial=1.0)
        best = max(best, float(plain_jsd(np.array([1.0]), np.array([single])) + (1 - single) * math.log(2) / 2))
        assert value == pytest.approx(best, abs=1e-9)


def test_huge_scores_stay_feasible() -> None:
    evidence = evidence_of([[0.5, 0.3, 0.2]], [[[1e30], [-1e30], [3e29]]])
    found = adversary(evidence).row(0, named=True)
    assert found["tvd"] <= 0.01 + 1e-9
    assert found["jsd"] <= found["upper"]


@pytest.mark.parametrize("outputs", [1, 2, 3, 5])
@pytest.mark.parametrize("method", ["exact", "search"])
def test_awkward_instances(outputs: int, method: str) -> None:
    frame = adversary(awkward_evidence(outputs), method=method, steps=20)
    assert frame.schema == {
        "id": pl.String,
        "decision": pl.Int32,
        "weights": pl.List(pl.Float64),
        "jsd": pl.Float64,
        "tvd": pl.Float64,
        "upper": pl.Float64,
        "certified": pl.Boolean,
        "adversary_decision": pl.Int32,
    }
    assert frame["tvd"].max() <= 0.01 + 1e-9
    assert (frame["jsd"] <= frame["upper"]).all()
    one_item = frame.row(0, named=True)
    assert one_item["weights"] == [1.0]
    assert (one_item["jsd"], one_item["tvd"], one_item["certified"]) == (0.0, 0.0, True)


def test_decisions() -> None:
    """At an output of one half, what moves it by a little decides otherwise."""
    evidence = evidence_of([[0.5, 0.5]], [[[1.0], [-0.99]]])
    found = adversary(evidence).row(0, named=True)
    assert found["decision"] == 1
    ((_, odds),) = two_class_rows(evidence)
    assert found["adversary_decision"] == int(np.dot(found["weights"], odds) > 0)


def test_random_attention_never_beats_it() -> None:
    """1,000 instances; from the model's attention towards 1,000 random points each, as far as the output allows."""
    draw = np.random.default_rng(3)
    n, size, points = 1000, 8, 1000
    evidence = evidence_of(list(draw.dirichlet(np.ones(size), n)), list(draw.normal(0, 2, (n, size, 1))))
    found = adversary(evidence)["jsd"].to_numpy()
    corners = draw.dirichlet(np.full(size, 0.1), points // 2)
    anywhere = np.concatenate([corners, draw.dirichlet(np.ones(size), points - len(corners))])  # (points, T)
    for value, (weights, odds) in zip(found, two_class_rows(evidence), strict=True):
        low, high = slab(weights, odds, 0.01)
        own, there = weights @ odds, anywhere @ odds
        bound = np.where(there > own, high, low)
        far = np.clip((bound - own) / (there - own), 0, 1)[:, None]
        assert plain_jsd(weights + far * (anywhere - weights), weights).max() <= value + 1e-9


@pytest.mark.parametrize("size", [1e7, 1e8, 1e9])
def test_large_scores_of_two_classes_are_certified(size: float) -> None:
    draw = np.random.default_rng(0)
    weights = draw.dirichlet(np.ones(10), 100)
    scores = draw.normal(0, size, (100, 10))
    scores -= (weights * scores).sum(axis=1, keepdims=True)
    rows = Ragged.from_rows(list(weights), dtype=np.float64)
    evidence = replace(
        complete(rows, draw, 1), scores=rows.like(scores.reshape(-1, 1)), bias=np.zeros((100, 1), dtype=np.float64)
    )
    frame = adversary(replace(evidence, output=evidence.decode(rows).astype(np.float32)))
    assert frame["tvd"].max() <= 0.01 + 1e-9
    assert frame["certified"].all()
    assert frame["jsd"].min() > 0


def test_a_wrong_upper_bound_certifies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["heedful.experiments.adversary"]
    right = slabs.two_classes

    def wrong(margins: AffineView, epsilon: float) -> Found:
        found = right(margins, epsilon)
        return found._replace(upper=found.upper - 0.1)

    monkeypatch.setattr(module, "two_classes", wrong)
    frame = adversary(random_evidence(0, n=5, shortest=5, longest=9, outputs=1))
    assert not frame["certified"].any()
    assert (frame["upper"] < frame["jsd"]).all()


@pytest.mark.parametrize("epsilon", [0, 1, -0.01, 2, float("nan"), float("inf"), "0.01", None])
def test_bad_epsilon(epsilon: object) -> None:
    with pytest.raises(BadConfig, match="epsilon"):
        adversary(make_evidence(), epsilon=epsilon)


def test_bad_options() -> None:
    with pytest.raises(BadConfig, match=r"unknown method 'exat' \(did you mean 'exact'\?\)"):
        adversary(make_evidence(), method="exat")
    with pytest.raises(BadConfig, match="unknown preset"):
        adversary(make_evidence(), preset="printed")
    with pytest.raises(BadConfig, match="steps"):
        adversary(make_evidence(), method="search", steps=0)
    with pytest.raises(BadConfig, match="distributions"):
        adversary(make_evidence(), method="search", distributions=0)
    with pytest.raises(BadInput, match="scores"):
        adversary(replace(make_evidence(), scores=None, bias=None))
