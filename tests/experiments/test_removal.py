from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadConfig, BadInput
from heedful.evidence import Evidence
from heedful.experiments import curves, removal, removal_curve
from heedful.experiments.curves import SHARES
from heedful.experiments.rankings import ORDERINGS, Ranker
from heedful.experiments.views import view_of
from heedful.measures import output_jsd
from heedful.ragged import Ragged
from heedful.randomness import keys
from tests.experiments.removing import affine, first_flip, made, own_weights, two_classes, without
from tests.making import make_evidence
from tests.strategies import examples

CASES = [(1, "affine"), (2, "affine"), (4, "affine"), (2, "tanh"), (5, "tanh")]

each_case = pytest.mark.parametrize(("outputs", "decoder"), CASES)


def order(evidence: Evidence, row: int, name: str, draw: int = 0) -> list[int]:
    view = view_of(evidence)
    found = Ranker(view, name, keys(evidence.ids), 0).orders(np.array([row]), draw)[0]
    return [int(position) for position in found]


@each_case
@given(seed=st.integers(0, 10**6))
@examples(15)
def test_first_flips_are_those_of_decoding_step_by_step(outputs: int, decoder: str, seed: int) -> None:
    evidence = make_evidence(seed, n=5, outputs=outputs, longest=8, decoder=decoder)  # type: ignore[arg-type]
    frame = removal(evidence)
    for row in range(len(evidence)):
        one = evidence.slice(row, row + 1)
        weights = own_weights(one)
        for name in ORDERINGS:
            taken = order(evidence, row, name)
            count = first_flip(one, taken)
            assert frame[f"{name}_count"][row] == count
            if count is None:
                assert frame["default"][row]
                assert frame[f"{name}_fraction"][row] is None
                assert frame[f"{name}_mass"][row] is None
            else:
                assert frame[f"{name}_fraction"][row] == pytest.approx(count / len(weights))
                assert frame[f"{name}_mass"][row] == pytest.approx(weights[taken[:count]].sum())
        counts = [first_flip(one, order(evidence, row, "random", draw)) for draw in range(5)]
        assert frame["random_counts"][row].to_list() == counts
        output = two_classes(one.decode(one.weights.like(weights))[0])
        assert frame["confidence"][row] == pytest.approx(output.max())
        assert frame["entropy"][row] == pytest.approx(-sum(p * np.log(p) for p in output if p > 0), abs=1e-9)


@each_case
@given(seed=st.integers(0, 10**6), name=st.sampled_from(ORDERINGS))
@examples(15)
def test_curves_are_decoded_step_by_step(outputs: int, decoder: str, seed: int, name: str) -> None:
    evidence = made(seed, outputs, decoder)  # type: ignore[arg-type]
    frame, short, decided = removal_curve(evidence, ranking=name), curves(evidence), view_of(evidence).decided
    for row in range(len(evidence)):
        one, taken = evidence.slice(row, row + 1), order(evidence, row, name)
        size = len(taken)
        after = [two_classes(without(one, taken[:count])) for count in range(size + 1)]
        own = after[0]
        kept = [float(output[decided[row]]) for output in after]
        assert frame["probability"][row].to_list() == pytest.approx(kept, abs=1e-6)
        assert frame["js"][row].to_list() == pytest.approx([float(output_jsd(own, q)) for q in after], abs=1e-6)
        assert frame["mass"][row].to_list() == pytest.approx([0, *np.cumsum(own_weights(one)[taken])], abs=1e-6)
        steps = [max(1, -(-round(share * 100) * size // 100)) for share in SHARES]
        lost = [kept[0] - kept[count] for count in steps]
        alone = [kept[0] - two_classes(without(one, taken[count:]))[decided[row]] for count in steps]
        for figure, expected in (("comprehensiveness", lost), ("sufficiency", alone)):
            assert short[f"{name}_{figure}_at"][row].to_list() == pytest.approx(expected, abs=1e-6)
            assert short[f"{name}_{figure}"][row] == pytest.approx(np.mean(expected), abs=1e-6)


def test_peaked_attention_keeps_all_digits_of_the_rest() -> None:
    weights = Ragged.from_rows([[1 - 1e-15, 6e-16, 4e-16]], dtype=np.float64)
    evidence = affine(weights, np.array([[5.0], [-1.0], [-3.0]]), np.array([[0.0]]))
    frame = removal_curve(evidence)
    assert frame["probability"][0][1] == pytest.approx(1 / (1 + np.exp(0.6 * 1.0 + 0.4 * 3.0)), rel=1e-12)


def test_a_document_of_five_thousand_items_is_done_whole() -> None:
    draw = np.random.default_rng(0)
    weights = Ragged.from_rows([draw.dirichlet(np.ones(5000)), [0.5, 0.5]])
    evidence = affine(weights, draw.normal([1.0, 0, 0], 1, (5002, 3)), np.array([[0.0, 0.1, 0.0]] * 2))
    frame = removal(evidence)
    assert frame["items"].to_list() == [5000, 2]
    assert 0 < frame["optimal_count"][0] <= frame["attention_count"][0]


def test_options_are_refused_by_name() -> None:
    evidence = make_evidence()
    with pytest.raises(BadConfig, match="unknown ranking 'best'"):
        removal(evidence, rankings=["best"])
    with pytest.raises(BadConfig, match="unknown ranking 'optimal'; valid: ascending"):
        curves(evidence, rankings=["optimal"])
    with pytest.raises(BadConfig, match="unknown ranking 'optimal'"):
        removal_curve(evidence, ranking="optimal")
    for count in (0, 1.5, "3"):
        with pytest.raises(BadConfig, match=r"orders = .*: give a whole number of 1 or more"):
            removal(evidence, orders=count)  # type: ignore[arg-type]
    for shares in ((), (0.0,), (0.5, 2), "0.5", ("a",)):
        with pytest.raises(BadConfig, match="give shares of all items, above 0 and at most 1"):
            curves(evidence, shares=shares)  # type: ignore[arg-type]
    bare = replace(evidence, scores=None, bias=None)
    for experiment in (removal, curves, removal_curve):
        with pytest.raises(BadInput, match="neither columns 'scores' and 'bias' nor 'features'"):
            experiment(bare)


def test_only_the_named_rankings_are_taken() -> None:
    frame = removal(make_evidence(), rankings=["random", "attention"], orders=2)
    assert frame.columns[6:] == [
        *(f"attention_{figure}" for figure in ("count", "fraction", "mass")),
        *(f"random_{figure}" for figure in ("count", "fraction", "mass", "counts", "masses")),
    ]
    assert set(frame["random_counts"].list.len()) == {2}
