from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadConfig, BadInput
from heedful.evidence import Evidence, decide
from heedful.experiments import flip_table, single_weight
from heedful.experiments.rankings import item_values
from heedful.experiments.single_weight import LEADERS
from heedful.experiments.views import view_of
from heedful.measures import bootstrap, output_jsd
from heedful.ragged import Ragged
from tests.experiments.removing import affine, made, own_weights, two_classes, without
from tests.making import make_evidence
from tests.strategies import examples

CASES = [(1, "affine"), (3, "affine"), (2, "tanh"), (5, "tanh")]


@pytest.mark.parametrize(("outputs", "decoder"), CASES)
@pytest.mark.parametrize("rival", ["other", "position"])
@given(seed=st.integers(0, 10**6))
@examples(10)
def test_everything_is_that_of_decoding_without_each_item(outputs: int, decoder: str, rival: str, seed: int) -> None:
    evidence = make_evidence(seed, n=6, outputs=outputs, decoder=decoder)  # type: ignore[arg-type]
    frame = single_weight(evidence, rival=rival, seed=seed)  # type: ignore[arg-type]
    view = view_of(evidence)
    for row, size in enumerate(evidence.weights.lengths):
        if size == 1:
            assert all(value is None for value in frame.row(row)[3:])
            continue
        one = evidence.slice(row, row + 1)
        weights, own = own_weights(one), two_classes(without(one, []))
        outputs_without = [two_classes(without(one, [item])) for item in range(size)]
        js = np.array([float(output_jsd(own, output)) for output in outputs_without])
        changes = np.array([decide(output) != decide(own) for output in outputs_without])
        for name in LEADERS:
            told = {key.removeprefix(f"{name}_"): frame[key][row] for key in frame.columns if key.startswith(name)}
            top = int(item_values(view, name)[row].argmax())
            rivals = [item for item in range(size) if item != top] if rival == "other" else list(range(1, size))
            assert told["js"] == pytest.approx(js[top], abs=1e-9)
            assert told["flips"] == changes[top]
            assert any(
                told["rival_js"] == pytest.approx(js[item], abs=1e-9)
                and told["rival_flips"] == changes[item]
                and told["delta_js"] == pytest.approx(js[top] - js[item], abs=1e-9)
                and told["delta_weight"] == pytest.approx(weights[top] - weights[item], abs=1e-9)
                for item in rivals
            )
            assert told["expected_delta_js"] == pytest.approx(np.mean(js[top] - js[rivals]), abs=1e-9)
            assert told["expected_delta_weight"] == pytest.approx(np.mean(weights[top] - weights[rivals]), abs=1e-9)
            assert told["expected_flips"] == pytest.approx(changes[rivals].mean())
            assert told["expected_negative"] == pytest.approx((js[rivals] > js[top] + 1e-14).mean())


@pytest.mark.parametrize("rival", ["other", "position"])
def test_draws_are_uniform_over_the_rivals(rival: str) -> None:
    many = 20_000
    weights = Ragged.from_rows([[0.2, 0.5, 0.3]] * many, dtype=np.float64)
    evidence = Evidence(
        ids=[f"i{row}" for row in range(many)],
        tokens=weights.like(np.full(3 * many, "w", dtype=object)),
        weights=weights,
        output=np.full((many, 1), 0.5),
        scores=weights.like(np.zeros((3 * many, 1))),
        bias=np.zeros((many, 1)),
    )
    ahead = single_weight(evidence, rival=rival)["attention_delta_weight"].round(6)  # type: ignore[arg-type]
    drawn = dict(ahead.value_counts().iter_rows())
    # of the weights .2, .5, .3 the second is the greatest: by position it may be its own rival, and the first never is
    assert set(drawn) == ({0.3, 0.2} if rival == "other" else {0.0, 0.2})
    assert all(abs(count - many / 2) < 400 for count in drawn.values())


@pytest.mark.parametrize("rival", ["other", "position"])
def test_the_table_adds_up_and_expectations_are_means(rival: str) -> None:
    evidence = make_evidence(4, n=300, outputs=3, longest=9)
    frame = single_weight(evidence, rival=rival)  # type: ignore[arg-type]
    table = flip_table(frame)
    several = frame.filter(pl.col("items") > 1)
    assert table["n"].unique().to_list() == [len(several)]
    assert table.select(pl.sum_horizontal("both", "top_only", "rival_only", "neither")).to_series().to_list() == (
        pytest.approx([1.0] * 6)
    )
    drawn, expected = table.row(0, named=True), table.row(1, named=True)
    assert drawn["top_only"] == (several["attention_flips"] & ~several["attention_rival_flips"]).mean()
    assert drawn["negative"] == (several["attention_delta_js"] < 0).mean()
    assert drawn["both"] + drawn["top_only"] == pytest.approx(expected["both"] + expected["top_only"])
    assert expected["rival_only"] == pytest.approx(
        (several["attention_expected_flips"] * ~several["attention_flips"]).mean()
    )
    assert drawn["neither"] == pytest.approx(expected["neither"], abs=0.05)


def test_shares_have_intervals_over_instances() -> None:
    frame = single_weight(make_evidence(4, n=80, outputs=3, longest=9))
    several = frame.filter(pl.col("items") > 1)
    row = flip_table(frame, seed=2, draws=60).row(1, named=True)
    top, rival = several["attention_flips"].cast(pl.Float64), several["attention_expected_flips"]
    interval = bootstrap(((1 - top) * rival).to_numpy(), seed=2, draws=60)
    assert (row["rival_only_low"], row["rival_only_high"]) == pytest.approx(interval)
    assert flip_table(frame, draws=0)["both_low"].null_count() == 6


def test_a_table_of_single_items_is_of_nothing() -> None:
    table = flip_table(single_weight(make_evidence(longest=1)))
    assert table["n"].to_list() == [0] * 6
    assert table["both"].null_count() == 6


def test_awkward_instances_have_divergences_that_add_up() -> None:
    for outputs, decoder in CASES:
        frame = single_weight(made(0, outputs, decoder))  # type: ignore[arg-type]
        constant = frame.row(5, named=True) if decoder == "affine" else frame.row(1, named=True)
        assert constant["attention_js"] is not None
        if decoder == "affine":
            assert constant["attention_js"] == pytest.approx(0, abs=1e-12)  # all items say the same


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(BadConfig, match="unknown rival 'any'; valid: other, position"):
        single_weight(make_evidence(), rival="any")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="neither columns 'scores' and 'bias' nor 'features'"):
        single_weight(replace(make_evidence(), scores=None, bias=None))


def exactly_decided(weights: list[Fraction], scores: np.ndarray, bias: np.ndarray, removed: int | None) -> int:
    """In whole numbers: the lowest class on ties, what the bias says if nothing is left."""
    kept = [Fraction(0) if item == removed else weight for item, weight in enumerate(weights)]
    said = [Fraction(int(value)) for value in bias]
    if sum(kept):
        sums = (sum(w * int(s) for w, s in zip(kept, column, strict=True)) for column in scores.T)
        said = [own + value / sum(kept) for own, value in zip(said, sums, strict=True)]
    if len(said) == 1:
        return int(said[0] > 0)
    return said.index(max(said))


@pytest.mark.parametrize("outputs", [1, 2, 3, 5])
def test_ties_are_decided_exactly(outputs: int) -> None:
    """Whole scores and weights in sixteenths: many single removals leave a tie, which floating point must not break."""
    draw = np.random.default_rng(outputs)
    sizes = draw.integers(2, 7, size=200)
    rows = [draw.multinomial(16, np.ones(size) / size) for size in sizes]
    weights = Ragged.from_rows([row / 16 for row in rows], dtype=np.float64)
    scores = draw.integers(-2, 3, size=(int(sizes.sum()), outputs)).astype(np.float64)
    bias = draw.integers(-1, 2, size=(len(sizes), outputs)).astype(np.float64)
    evidence = affine(weights, scores, bias)
    frame, top, ties = single_weight(evidence), weights.argmax() - weights.offsets[:-1], 0
    for row, counts in enumerate(rows):
        share = [Fraction(int(count), 16) for count in counts]
        said = weights.like(scores)[row]
        whole = exactly_decided(share, said, bias[row], None)
        changes = [exactly_decided(share, said, bias[row], item) != whole for item in range(len(share))]
        others = [change for item, change in enumerate(changes) if item != top[row]]
        assert frame["attention_flips"][row] == changes[top[row]]
        assert frame["attention_expected_flips"][row] == pytest.approx(np.mean(others))
        ties += sum(changes)
    assert ties > 50


def test_items_that_are_the_same_do_not_matter_more_than_one_another() -> None:
    draw = np.random.default_rng(0)
    for size in (2, 7, 300, 3000):
        scores = draw.normal(0, 20, size=(size, 3))
        scores[:] = scores[0]
        scores[: size // 2] = draw.normal(0, 20, size=3)
        weights = Ragged.from_rows([np.full(size, 1 / size)], dtype=np.float64)
        frame = single_weight(affine(weights, scores[::-1].copy(), np.zeros((1, 3))))
        same = (size - size // 2 - 1) / (size - 1)  # of the others, those that are as the first one
        assert frame["attention_expected_negative"][0] in (0.0, pytest.approx(1 - same))
