"""The search of the adversary against the proven optimum of an affine model, and its honesty."""

import numpy as np
import polars as pl
import pytest

from heedful import experiments
from heedful.audits.battery import BATTERY
from heedful.errors import BadConfig
from heedful.evidence import probabilities
from heedful.experiments.adversaries.divergence import decoder_free_bound
from heedful.measures import jsd, tvd
from heedful.ragged import Ragged
from tests.audits.battery.subjects import Small, make_texts, named

LENGTHS = [1, 2, 3, 5, 8, 12, 20, 33]


def search(subject: Small, lengths: list[int], **options: object) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What is found, and what there is."""
    texts = make_texts(lengths, seed=subject.seed)
    ids, seen = named(texts), subject.read(texts)
    found = BATTERY["adversary"].perform(subject, ids, texts, seen, **options)
    return found, experiments.adversary(subject.evidence(ids, texts), epsilon=options.get("epsilon", 0.01))  # type: ignore[arg-type]


@pytest.mark.parametrize("outputs", [1, 2])
def test_it_keeps_to_epsilon_and_comes_near_the_optimum(outputs: int) -> None:
    shares = []
    for seed in range(3):
        found, best = search(Small(outputs=outputs, seed=seed), LENGTHS)
        assert found.columns == best.columns
        assert found.schema["weights"] == pl.List(pl.Float64)
        assert (found["tvd"] <= 0.01).all()
        assert (found["jsd"] <= best["jsd"] + 1e-6).all()
        assert (found["jsd"] <= found["upper"] + 1e-9).all()
        shares += [ours / most for ours, most in zip(found["jsd"], best["jsd"], strict=True) if most > 1e-6]
    assert np.mean(shares) >= 0.8


def test_what_is_told_is_what_the_model_says_under_the_weights_told() -> None:
    """With one head the map told is the attention that was read under: the evidence decodes it."""
    subject, texts = Small(outputs=3), make_texts(LENGTHS)
    ids, seen = named(texts), subject.read(texts)
    frame = BATTERY["adversary"].perform(subject, ids, texts, seen, epsilon=0.05)
    weights = Ragged.from_rows(frame["weights"].to_list())
    output = subject.evidence(ids, texts).decode(weights)
    assert frame["tvd"].to_list() == pytest.approx(tvd(output, probabilities(seen.logits)), abs=1e-5)
    assert frame["jsd"].to_list() == pytest.approx(jsd(weights, seen.weights), abs=1e-9)
    assert frame["adversary_decision"].to_list() == output.argmax(axis=1).tolist()
    assert frame["upper"].to_list() == pytest.approx(decoder_free_bound(seen.weights), abs=1e-9)
    assert frame["jsd"][-1] > 0.3


def test_a_map_that_cannot_change_is_certified() -> None:
    found, _ = search(Small(), [1])
    assert found["certified"].to_list() == [True]
    assert found["jsd"].to_list() == pytest.approx([0.0], abs=1e-9)


def test_where_nothing_is_found_the_own_map_is_told() -> None:
    found, _ = search(Small(), [6, 9], epsilon=1e-12, steps=2)
    assert found["jsd"].to_list() == [0.0, 0.0]
    assert found["tvd"].to_list() == [0.0, 0.0]
    assert found["certified"].to_list() == [False, False]


def test_heads_and_added_tokens() -> None:
    texts = make_texts([4, 9, 6], framed=True, pieces=True)
    subject = Small(outputs=4, heads=3)
    frame = BATTERY["adversary"].perform(subject, named(texts), texts, subject.read(texts), epsilon=0.05)
    assert (frame["tvd"] <= 0.05).all()
    assert frame["jsd"].min() > 0
    assert frame["weights"].list.sum().to_list() == pytest.approx([1.0] * 3)


def test_options_that_make_no_sense_are_refused() -> None:
    for options in ({"epsilon": 0}, {"restarts": 0}, {"steps": 0}):
        with pytest.raises(BadConfig):
            search(Small(), [3], **options)
