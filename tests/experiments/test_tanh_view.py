"""Experiments on decoders that are not affine, against evidence decoded plainly."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadInput
from heedful.evidence import Evidence, decide, probabilities
from heedful.experiments import adversary, permutation, reach, substitution, violation
from heedful.experiments.tanh_view import TanhView
from heedful.experiments.view import first_best
from heedful.measures import tvd
from heedful.randomness import Stream, keys
from tests.experiments.adversarial import nearly_affine
from tests.making import awkward_evidence, make_evidence
from tests.strategies import examples

seeds = st.integers(0, 10**6)


def made(seed: int, outputs: int) -> Evidence:
    if seed % 5 == 0:
        return awkward_evidence(outputs, "tanh")
    return make_evidence(seed, n=5, outputs=outputs, decoder="tanh")


@given(seeds, st.sampled_from([2, 4]))
@examples(30)
def test_permutations_are_decoded(seed: int, outputs: int) -> None:
    evidence = made(seed, outputs)
    frame = permutation(evidence, permutations=4, seed=seed)
    orders = Stream(seed, "permutation").orders(
        evidence.weights.lengths[:, None], keys(evidence.ids)[:, None], np.arange(4)
    )
    own = TanhView.of(evidence).weights
    for row in range(len(evidence)):
        one, weights = evidence.slice(row, row + 1), own[row]
        outputs_of = [one.decode(one.weights.like(weights[order[: len(weights)]])) for order in orders[row]]
        moved = sorted(float(tvd(output, one.decode(one.weights.like(weights)))[0]) for output in outputs_of)
        assert frame["tvds"][row].to_list() == pytest.approx(moved, abs=1e-9)
    for name in ("can_change", "lowest", "highest", "worst"):
        assert frame[name].null_count() == len(evidence)


@given(seeds, st.sampled_from([2, 4]))
@examples(30)
def test_items_are_asked_alone(seed: int, outputs: int) -> None:
    evidence = made(seed, outputs)
    view, frame = TanhView.of(evidence), violation(evidence)
    alone = probabilities(view.decode_single(np.arange(len(evidence.weights.values))).logits)
    for row in range(len(evidence)):
        one = evidence.slice(row, row + 1)
        for item in range(len(one.weights.values)):
            plain = one.decode(one.weights.like((np.arange(len(one.weights.values)) == item).astype(float)))
            assert np.allclose(alone[evidence.weights.offsets[row] + item], plain[0], atol=1e-12)
        top = alone[evidence.weights.offsets[row] + one.weights.values.argmax()]
        assert frame["violates"][row] == (decide(top) != view.decided[row])
        rivals = np.delete(top, view.decided[row])
        if rivals.max() > 0:
            margin = math.log(top[view.decided[row]] / rivals.max())
            assert frame["margin"][row] == pytest.approx(margin, abs=1e-6)
        else:  # one candidate has no rival
            assert frame["margin"][row] is None


def test_what_is_no_candidate_is_never_decided_for() -> None:
    logits = np.array([[-np.inf, -np.inf, 1.0, -np.inf], [-np.inf, 1.0, 1.0, 2.0], [0.0, -np.inf, 0.0, -np.inf]])
    assert first_best(logits, np.ones((3, 4))).tolist() == [2, 3, 0]
    evidence = make_evidence(5, n=40, outputs=5, decoder="tanh")
    assert evidence.candidates is not None
    frame = substitution(evidence)
    for row, candidates in enumerate(evidence.candidates):
        for name in ("decision", "uniform_decision", "random_decision", "permuted_decision"):
            assert frame[name][row] in candidates


def test_classes_that_the_decoder_cannot_tell_apart_are_ties() -> None:
    evidence = replace(make_evidence(6, n=30, outputs=3, decoder="tanh"), candidates=None)
    assert evidence.decoder is not None
    evidence.decoder.weight[2], evidence.decoder.bias[2] = evidence.decoder.weight[1], evidence.decoder.bias[1]
    evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
    assert set(permutation(evidence)["decision"]) == {0, 1}


def test_a_decoder_in_its_linear_range_is_affine() -> None:
    affine = make_evidence(2, n=40, outputs=3, longest=12)
    decoded = nearly_affine(affine)
    for experiment, names in (
        (permutation, ["median", "changed"]),
        (substitution, ["uniform_tvd", "random_tvd", "permuted_tvd", "random_decision"]),
        (violation, ["violates", "margin"]),
    ):
        for name in names:
            near = np.abs(experiment(decoded)[name].cast(float) - experiment(affine)[name].cast(float))
            assert near.max() < 1e-3, name


def test_what_needs_an_affine_decoder_says_so() -> None:
    with pytest.raises(BadInput, match=r"no columns 'scores' and 'bias'.*where the decoder is affine"):
        reach(make_evidence(outputs=3, decoder="tanh"))
    bare = replace(make_evidence(), scores=None, bias=None)
    for experiment in (permutation, substitution, violation, adversary):
        with pytest.raises(BadInput, match="neither columns 'scores' and 'bias' nor 'features' and 'context'"):
            experiment(bare)
