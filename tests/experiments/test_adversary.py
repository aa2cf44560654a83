"""The adversary against brute force, against what it must never be beaten by, and against torch."""

import math
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.special import expit, rel_entr, softmax

from heedful.errors import BadConfig, BadInput
from heedful.evidence import Evidence
from heedful.experiments import adversary_search, adversary_slabs
from heedful.experiments.adversary import adversary
from heedful.experiments.adversary_bounds import several_classes
from heedful.experiments.adversary_candidates import Found, decoder_free_bound
from heedful.experiments.adversary_search import Batch, Objective
from heedful.experiments.margins import Margins
from heedful.measures import jsd
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys
from tests.making import awkward_evidence, complete, make_evidence


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


@pytest.mark.parametrize("outputs", [1, 2])
@settings(deadline=None)
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


def never_beaten_by_rays(outputs: int, n: int, points: int) -> None:
    """From the model's attention towards random points, as far as the output allows."""
    evidence = random_evidence(10 + outputs, n=n, shortest=2, longest=12, outputs=outputs)
    draw, margins, found = np.random.default_rng(0), Margins.of(evidence), adversary(evidence)["jsd"]
    for value, weights, alone in zip(found, margins.weights, margins.alone, strict=True):
        output = softmax(weights @ alone)
        spread = np.repeat([0.5, 5.0], points // 2)[:, None]
        way = softmax(spread * draw.normal(size=(len(spread), len(weights))), axis=1) - weights  # (points, T)

        def feasible(far: np.ndarray, way: np.ndarray = way, first: np.ndarray = weights @ alone) -> np.ndarray:
            moved = softmax(first + far[:, None] * (way @ alone), axis=1) - output  # noqa: B023
            return np.abs(moved).sum(axis=1) / 2 <= 0.01

        good, bad = np.zeros(len(way)), np.ones(len(way))
        for _ in range(30):
            met = feasible((good + bad) / 2)
            good, bad = np.where(met, (good + bad) / 2, good), np.where(met, bad, (good + bad) / 2)
        # a lower bound: where few items leave a curved body, climbing stops within 1e-5 of what a lucky ray finds
        assert plain_jsd(weights + good[:, None] * way, weights).max() <= value + 1e-5


@pytest.mark.parametrize("outputs", [3, 4, 5])
def test_rays_never_beat_it(outputs: int) -> None:
    never_beaten_by_rays(outputs, 25, points=200)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [3, 4, 5])
def test_a_thousand_rays_never_beat_it(outputs: int) -> None:
    never_beaten_by_rays(outputs, 1000, points=1000)


def bounds(evidence: Evidence, epsilon: float = 0.01) -> tuple[np.ndarray, np.ndarray]:
    margins = Margins.of(evidence)
    found = several_classes(margins, epsilon, Stream(0, "adversary"), keys(evidence.ids))
    return jsd(found.weights, margins.weights), found.upper


def test_three_classes_have_close_bounds() -> None:
    lower, upper = bounds(random_evidence(0, n=200, shortest=30, longest=60, outputs=3))
    assert (lower <= upper + 1e-12).all()
    assert np.median(upper - lower) <= 0.005


def test_five_classes_have_close_bounds() -> None:
    """Without linear programs the mean gap is 0.58; with smaller balls or a single try it is 0.0114 and more."""
    lower, upper = bounds(random_evidence(0, n=40, shortest=60, longest=60, outputs=5))
    assert np.mean(upper - lower) <= 0.0105


def test_five_classes_of_few_items() -> None:
    """The mean falls to 0.365 with smaller balls only, to 0.375 with a single try, to 0.386 without climbing."""
    lower, _ = bounds(random_evidence(0, n=40, shortest=6, longest=14, outputs=5))
    assert lower.mean() >= 0.387


@pytest.mark.parametrize("outputs", [3, 4])
def test_no_pair_of_items_beats_it(outputs: int) -> None:
    evidence = random_evidence(8, n=25, shortest=5, longest=14, outputs=outputs)
    lower, _ = bounds(evidence, 0.05)
    margins = Margins.of(evidence)
    shares, best_pairs = np.linspace(0, 1, 501)[:, None], np.zeros(len(lower))
    for row, (weights, alone) in enumerate(zip(margins.weights, margins.alone, strict=True)):
        output = softmax(weights @ alone)
        for i, j in combinations(range(len(weights)), 2):
            moved = np.abs(softmax(shares * alone[i] + (1 - shares) * alone[j], axis=1) - output).sum(axis=1) / 2
            kept = shares[moved <= 0.05]
            mixed = np.zeros((len(kept), len(weights)))
            mixed[:, [i]], mixed[:, [j]] = kept, 1 - kept
            best_pairs[row] = max(best_pairs[row], plain_jsd(mixed, weights).max(initial=0))
    assert (best_pairs <= lower + 1e-9).all()
    assert (best_pairs > 0).sum() > 5


def test_climbing_beats_the_corners_of_the_ball() -> None:
    """Three items meet each output in one way only; corners of the ball give 0.097, points on its edges 0.134."""
    weights = [0.027381894724094705, 0.10306734408959521, 0.8695507611863101]
    scores = [[-3.00156, -1.51736, -3.25266], [-1.99128, 0.81746, -1.79693], [-0.97106, 0.00341, -4.99856]]
    found = adversary(evidence_of([weights], [scores])).row(0, named=True)
    assert found["jsd"] > 0.135
    assert found["tvd"] <= 0.01 + 1e-9


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
    right = adversary_slabs.two_classes

    def wrong(margins: Margins, epsilon: float) -> Found:
        found = right(margins, epsilon)
        return found._replace(upper=found.upper - 0.1)

    monkeypatch.setattr(module, "two_classes", wrong)
    frame = adversary(random_evidence(0, n=5, shortest=5, longest=9, outputs=1))
    assert not frame["certified"].any()
    assert (frame["upper"] < frame["jsd"]).all()


@pytest.mark.parametrize(("outputs", "epsilon"), [(3, 0.2), (4, 0.01), (5, 0.01), (5, 0.1), (8, 0.05)])
def test_more_classes_are_bounded(outputs: int, epsilon: float) -> None:
    evidence = random_evidence(1, n=12, shortest=1, longest=40, outputs=outputs)
    frame = adversary(evidence, epsilon=epsilon)
    lower, upper = frame["jsd"].to_numpy(), frame["upper"].to_numpy()
    assert (lower <= upper).all()
    assert (upper <= decoder_free_bound(Margins.of(evidence).weights) + 1e-12).all()
    assert frame["tvd"].max() <= epsilon + 1e-9
    assert (frame["certified"] == (upper - lower <= 1e-9)).all()


@settings(deadline=None, max_examples=40)
@given(evidence=instances(3), epsilon=st.sampled_from([0.01, 0.05, 0.3, 0.7]))
def test_any_three_classes_are_bounded(evidence: Evidence, epsilon: float) -> None:
    found = adversary(evidence, epsilon=epsilon).row(0, named=True)
    assert found["jsd"] <= found["upper"]
    assert found["tvd"] <= epsilon + 1e-9


@pytest.mark.parametrize("epsilon", [0.01, 0.1])
def test_three_classes_against_enumeration(epsilon: float) -> None:
    """Every distribution of a fine grid on three items, and on all triples of five."""
    evidence = evidence_of(
        *zip(*[(draw.dirichlet(np.ones(t)), draw.normal(0, 2, (t, 3))) for draw, t in _draws()], strict=True)
    )
    lower, upper = bounds(evidence, epsilon)
    steps = 250
    a, b = (part.ravel() for part in np.meshgrid(np.arange(steps + 1), np.arange(steps + 1)))
    grid = np.stack([a, b, steps - a - b], axis=1)[a + b <= steps] / steps  # (G, 3)
    margins = Margins.of(evidence)
    for row, (weights, alone) in enumerate(zip(margins.weights, margins.alone, strict=True)):
        output, best = softmax(weights @ alone), 0.0
        for items in combinations(range(len(weights)), 3):
            moved = np.abs(softmax(grid @ alone[list(items)], axis=1) - output).sum(axis=1) / 2
            mixed = np.zeros((len(grid), len(weights)))
            mixed[:, items] = grid
            best = max(best, float(np.where(moved <= epsilon, plain_jsd(mixed, weights), 0).max()))
        assert best <= upper[row] + 1e-12
        assert best <= lower[row] + 1e-4


def _draws() -> list[tuple[np.random.Generator, int]]:
    return [(np.random.default_rng(seed), size) for seed, size in enumerate([3, 3, 3, 5, 5])]


@pytest.mark.parametrize("outputs", [3, 5])
def test_more_classes_in_any_batch_and_order(outputs: int) -> None:
    evidence = random_evidence(2, n=6, shortest=2, longest=40, outputs=outputs)
    whole = adversary(evidence)
    assert_frame_equal(pl.concat([adversary(batch) for batch in evidence.batches(3)]), whole, abs_tol=1e-9)
    backwards = Evidence.from_frame(evidence.to_frame().reverse())
    assert_frame_equal(adversary(backwards).reverse(), whole, abs_tol=1e-9)


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


def torch_loss(free: torch.Tensor, batch: Batch, objective: Objective, outputs: int) -> torch.Tensor:
    """The paper's objective, plainly: (T, k, B) logits, hinge on the outputs' distance."""
    own, odds = torch.from_numpy(batch.own), torch.from_numpy(batch.odds)
    attention = free.masked_fill(~torch.from_numpy(batch.real), -torch.inf).softmax(dim=0)

    def output(weights: torch.Tensor) -> torch.Tensor:
        logits = (weights * odds).sum(dim=1)  # (K - 1, k, B)
        return torch.cat([torch.zeros_like(logits[:1]), logits]).softmax(dim=0)

    def divergence(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        m = (p + q) / 2
        log_m = (m + 1e-10).log()
        return (p * ((p + 1e-10).log() - log_m) + q * ((q + 1e-10).log() - log_m)).sum(dim=0) / 2

    apart = (output(attention) - output(own)).abs()
    distance = apart[1] if outputs == 1 else objective.distance * apart.sum(dim=0) / 2
    loss = (objective.penalty * (distance - objective.epsilon).relu() - divergence(attention, own)).sum()
    for i in range(free.shape[1]):
        for j in range(i):
            loss = loss - objective.diversity * divergence(attention[:, i], attention[:, j]).sum()
    return loss


@pytest.mark.parametrize("preset", ["paper", "released"])
@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_search_is_adam_on_the_objective(preset: adversary_search.Preset, outputs: int) -> None:
    """The gradient is autograd's, and the steps are those of torch's Adam with amsgrad."""
    margins = Margins.of(make_evidence(4, n=6, outputs=outputs, longest=7))
    batch = Batch.of(margins.weights, margins.alone)
    objective = Objective.of(preset, epsilon=0.01, distributions=3, outputs=outputs)
    start = np.random.default_rng(0).normal(0, 3, (len(batch.own), 3, 6))
    free = torch.from_numpy(start.copy()).requires_grad_()
    torch_loss(free, batch, objective, outputs).backward()
    ours = adversary_search.gradient(start, batch, objective, batch.output(batch.own))
    assert free.grad is not None
    assert np.abs(ours - free.grad.numpy()).max() < 1e-10 * max(1.0, np.abs(ours).max())
    adam = torch.optim.Adam([free], lr=0.01, amsgrad=True)
    for _ in range(30):
        adam.zero_grad()
        torch_loss(free, batch, objective, outputs).backward()
        adam.step()
    moved = adversary_search.minimise(start, batch, objective, 30)
    apart = np.abs(moved - free.detach().numpy())[np.broadcast_to(batch.real, moved.shape)]
    assert apart.max() < 1e-8


def test_presets_differ_as_paper_and_code_do() -> None:
    paper = Objective.of("paper", epsilon=0.01, distributions=5, outputs=3)
    assert paper == Objective(epsilon=0.01, penalty=100.0, diversity=1 / 20, distance=1.0)
    released = Objective.of("released", epsilon=0.01, distributions=5, outputs=3)
    assert released == Objective(epsilon=0.01, penalty=500.0, diversity=2 / 25, distance=2.0)
    assert Objective.of("released", epsilon=0.01, distributions=5, outputs=1).distance == 1.0


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
