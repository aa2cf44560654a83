"""The smallest flip sets against brute force over all subsets."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.evidence import Evidence
from heedful.experiments import removal
from heedful.experiments.affine_view import AffineView
from heedful.experiments.rankings import ORDERINGS, RANKINGS, Ranker, each_item, in_order, without_each, without_first
from heedful.experiments.removal import Steps
from heedful.experiments.single_weight import single_removals
from heedful.experiments.view import Sums, flips
from heedful.ragged import Ragged
from heedful.randomness import keys
from tests.experiments.removing import affine, without
from tests.making import instance
from tests.strategies import examples

LONGEST, INSTANCES = 12, 500
KINDS = ("continuous", "ties", "zeros", "one-sided")


def drawn(kind: str, seed: int, n: int = INSTANCES, longest: int = LONGEST) -> list[Evidence]:
    """Evidence of 1 to 4 outputs, a quarter of the instances each."""
    draw = np.random.default_rng([KINDS.index(kind), seed])
    made = []
    for outputs in (1, 2, 3, 4):
        lengths = draw.integers(1, longest + 1, size=-(-n // 4))
        raw = draw.exponential(size=int(lengths.sum()))
        scores = draw.normal(0, 2, (len(raw), outputs))
        bias = draw.normal(size=(len(lengths), outputs))
        if kind == "ties":
            raw, scores, bias = draw.integers(1, 4, len(raw)).astype(float), scores.round(), bias.round()
        if kind == "zeros":
            raw[draw.random(len(raw)) < 0.5] = 0
            raw[np.cumsum(lengths) - 1] += 0.1  # some weight in every instance
            scores = scores.round()
        if kind == "one-sided":
            scores[:, -1] = np.abs(scores).max(axis=1) + draw.random(len(raw))
        weights = Ragged.from_lengths(raw, lengths)
        made.append(affine(weights.like(raw / weights.sum()[weights.row_of_value]), scores, bias))
    return made


def subsets(size: int) -> np.ndarray:
    """Every subset of the items as a row of what stays, (2^T, T), by the number of items removed."""
    stays = np.array(list(product([True, False], repeat=size)))
    return stays[np.argsort((~stays).sum(axis=1), kind="stable")]


STAYS = {size: subsets(size) for size in range(1, LONGEST + 1)}


def smallest(view: AffineView, row: int) -> int | None:
    """The size of the smallest subset whose removal changes the decision."""
    weights, alone = view.weights[row], view.alone[row]
    stays = STAYS[len(weights)].astype(np.float64)
    sums = Sums(stays @ (weights[:, None] * alone), stays @ (weights[:, None] * np.abs(alone)))
    nothing = stays @ weights == 0
    sums.logits[nothing], sums.sizes[nothing] = view.bias[row], np.abs(view.bias[row])
    changes = flips(sums, np.full(len(stays), view.decided[row]))
    changes[0] = False
    return int(len(weights) - stays[changes.argmax()].sum()) if changes.any() else None


@pytest.mark.parametrize("kind", KINDS)
def test_no_smaller_set_changes_the_decision(kind: str) -> None:
    never = 0
    for evidence in drawn(kind, 0):
        frame, view = removal(evidence, rankings=["attention", "optimal"]), AffineView.of(evidence)
        expected = [smallest(view, row) for row in range(len(evidence))]
        assert frame["optimal_count"].to_list() == expected
        assert frame["optimal_set"].list.len().to_list() == expected
        assert frame.filter(frame["optimal_count"].is_null())["default"].all()
        never += frame["optimal_count"].null_count()
    assert 0 < never < INSTANCES / 2


@pytest.mark.parametrize("kind", ["continuous", "one-sided"])
def test_the_set_does_change_the_decision(kind: str) -> None:
    for evidence in drawn(kind, 1, n=40):
        frame, weights = removal(evidence), AffineView.of(evidence).weights
        decided = AffineView.of(evidence).decided
        for row, positions in enumerate(frame["optimal_set"]):
            if positions is not None:
                output = without(evidence.slice(row, row + 1), positions.to_list())
                now = int(output[0] > 0.5) if len(output) == 1 else int(output.argmax())
                assert now != decided[row]
                assert frame["optimal_mass"][row] == pytest.approx(weights[row][positions.to_list()].sum())


@given(st.integers(0, 10**6), st.sampled_from(KINDS))
@examples(60)
def test_no_ranking_needs_fewer_items_than_the_optimum(seed: int, kind: str) -> None:
    for evidence in drawn(kind, seed, n=16, longest=25):
        frame = removal(evidence, seed=seed)
        for name in ORDERINGS:
            ever = frame[f"{name}_count"].is_not_null()
            assert frame.filter(ever)["optimal_count"].is_not_null().all()
            assert (frame[f"{name}_excess"].drop_nulls() >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_looking_at_signs_first_makes_no_difference(kind: str) -> None:
    for evidence in drawn(kind, 3, n=200):
        view, rows = AffineView.of(evidence), np.arange(len(evidence))
        decided = np.broadcast_to(view.decided[:, None], (len(rows), int(view.weights.lengths.max())))
        items = each_item(view, rows)
        for name in ORDERINGS:
            orders = Ranker(view, name, keys(evidence.ids), 0).orders(rows)
            changed = flips(
                view.decode_sums(rows, *without_first(in_order(items, orders))), decided[:, :1].repeat(13, axis=1)
            )
            plain = np.where(changed[:, 1:].any(axis=1), changed[:, 1:].argmax(axis=1) + 1, 0)
            assert Steps(view, rows).first_flips(orders).tolist() == plain.tolist()
        single = flips(view.decode_sums(rows, *without_each(items)), decided)
        assert (single_removals(view, rows).flips == single).all()


def test_of_two_classes_the_contributions_to_the_margin_give_the_optimum() -> None:
    for evidence in drawn("continuous", 2, n=400)[:2]:
        assert (removal(evidence)["contribution_excess"].drop_nulls() == 0).all()


@pytest.mark.parametrize(("score", "count"), [(0.3, None), (-0.3, 3)])
def test_ties_by_rounding_do_not_count_as_a_change(score: float, count: int | None) -> None:
    frame = removal(instance([0.1, 0.2, 0.7], [score] * 3, bias=-score))  # whatever is left says exactly zero
    assert frame["decision"][0] == 0
    for name in RANKINGS:
        assert frame[f"{name}_count"].to_list() == [count]  # nothing says -score
