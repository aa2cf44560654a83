"""The race at the input against a plain one: text by text, item by item, one reading each."""

from itertools import product
from math import ceil

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful.errors import BadConfig
from heedful.evidence import chance, decide
from heedful.importance import erasure as race
from heedful.importance.classifier_texts import ClassifierTexts
from heedful.importance.erasure import RANKINGS, WAYS, erasure
from heedful.importance.table import attributions
from heedful.models.batches import Inputs
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inference import decode, predict
from heedful.ragged import Ragged
from heedful.text.vocabulary import UNKNOWN
from tests.models.making import make_documents, make_inputs, make_model
from tests.strategies import examples

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
KINDS = [("classifier", 1), ("classifier", 3), ("flan", 4), ("han", 1), ("han", 4)]
SIZES = [[3, 1, 2], [4], [2, 2, 5, 1], [1]]


def sharp(kind: str, outputs: int, encoder: str = "cnn", *, query: bool = False, seed: int = 0) -> Classifier:
    """A model whose decisions depend on more than one item."""
    model = make_model(encoder, kind=kind, outputs=outputs, query=query, seed=seed).eval()
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.mul_(4)
    return model


def inputs_for(kind: str) -> Inputs:
    inputs = make_documents(SIZES)
    return inputs if kind == "han" else Inputs(inputs.tokens)


def names(inputs: Inputs) -> list[str]:
    return [f"i{row}" for row in range(len(inputs))]


def left_of(inputs: Inputs, kept: list[int], way: str) -> Inputs | None:
    """One instance with some of its items only, written out."""
    words, cuts = inputs.tokens[0], [1] * len(inputs.tokens[0])
    if inputs.sentences is not None:
        cuts = inputs.sentences[0].tolist()
    parts = np.split(words, np.cumsum(cuts)[:-1])
    if way == "unknown":
        parts = [part if place in kept else np.full_like(part, UNKNOWN) for place, part in enumerate(parts)]
        kept = list(range(len(parts)))
    elif not kept:
        return None
    rows = Ragged.from_rows([np.concatenate([parts[place] for place in sorted(kept)])], dtype=np.int32)
    sentences = None
    if inputs.sentences is not None:
        sentences = Ragged.from_rows([[cuts[place] for place in sorted(kept)]], dtype=np.int32)
    return Inputs(rows, inputs.query, inputs.candidates, sentences)


def read(model: Classifier, alone: Inputs, kept: list[int], way: str) -> np.ndarray:
    left = left_of(alone, kept, way)
    if left is not None:
        return predict(model, left)
    with torch.no_grad():
        zeros = torch.zeros(1, model.encoder.size)
        return output_of(model.decoder(zeros, model.query(alone))).numpy()


def plain_race(
    model: Classifier, alone: Inputs, values: np.ndarray, way: str, step: int = 1
) -> dict[str, float | None]:
    """One instance and one order."""
    output = predict(model, alone)
    decided = decide(output)
    order = np.argsort(-values, kind="stable").tolist()
    count = None
    for erased in [*range(step, len(order), step), len(order)]:
        if decide(read(model, alone, order[erased:], way)) != decided:
            count = erased
            break
    tops = [ceil(share * len(order)) for share in SHARES]
    whole = chance(output, decided)[0]
    without = [whole - chance(read(model, alone, order[top:], way), decided)[0] for top in tops]
    only = [whole - chance(read(model, alone, order[:top], way), decided)[0] for top in tops]
    return {"count": count, "comprehensiveness": float(np.mean(without)), "sufficiency": float(np.mean(only))}


@pytest.mark.parametrize(("kind", "outputs"), KINDS)
@pytest.mark.parametrize("steps", [2, 50])
def test_equals_a_plain_race(monkeypatch: pytest.MonkeyPatch, kind: str, outputs: int, steps: int) -> None:
    monkeypatch.setattr(race, "ROUND", 3)
    monkeypatch.setattr(race, "WORDS", 40)
    flips = [check_race(sharp(kind, outputs, seed=seed), inputs_for(kind), steps) for seed in range(4)]
    assert 0 < np.mean(flips) < 1  # so that both are seen


def check_race(model: Classifier, inputs: Inputs, steps: int) -> float:
    """Compare all races of a model; the share of them that end in a flip."""
    weights = decode(model, inputs).weights
    frame = erasure(model, names(inputs), inputs, weights, steps=steps)
    ranked = {"attention": weights} | attributions(ClassifierTexts(model, inputs))
    flips = []
    for row, (way, ranking) in product(range(len(inputs)), product(WAYS, ranked)):
        alone = inputs.take(np.array([row]))
        step = -(-len(alone.items.values) // steps)
        expected = plain_race(model, alone, ranked[ranking][row], way, step)
        ours = {name: frame[f"{way}_{ranking}_{name}"][row] for name in expected}
        count = expected["count"]
        assert ours["count"] == count
        assert ours["comprehensiveness"] == pytest.approx(expected["comprehensiveness"], abs=1e-5)
        assert ours["sufficiency"] == pytest.approx(expected["sufficiency"], abs=1e-5)
        flips.append(count is not None)
        if count is not None:
            order = np.argsort(-ranked[ranking][row], kind="stable")[:count]
            assert frame[f"{way}_{ranking}_fraction"][row] == count / len(ranked[ranking][row])
            assert frame[f"{way}_{ranking}_mass"][row] == pytest.approx(weights[row][order].sum(), abs=1e-6)
    return float(np.mean(flips))


def test_models_that_answer_queries_are_raced(monkeypatch: pytest.MonkeyPatch) -> None:
    model, inputs = sharp("classifier", 3, query=True), make_inputs([6, 1, 9], query=True)
    weights = decode(model, inputs).weights
    frame = erasure(model, names(inputs), inputs, weights)
    for row in range(3):
        expected = plain_race(model, inputs.take(np.array([row])), weights[row], "delete")
        assert frame["delete_attention_count"][row] == expected["count"]


@pytest.mark.parametrize(("kind", "outputs"), KINDS)
def test_attributions_are_signed_for_the_decision(kind: str, outputs: int) -> None:
    """A small step along a token's vector changes the decided class's probability as its attribution says."""
    model, inputs = sharp(kind, outputs, "average").double(), inputs_for(kind)
    decided = decide(predict(model, inputs))
    values, whole, _ = attributions(ClassifierTexts(model, inputs), tolerance=1e-4).values()
    before = chance(predict(model, inputs), decided)
    baseline = model.embedding.detach().clone()
    with torch.no_grad():
        model.embedding.mul_(1 + 1e-4)
        after = chance(predict(model, inputs), decided)
        model.embedding.copy_(baseline).mul_(0)
        nothing = chance(predict(model, inputs), decided)
    assert np.allclose((after - before) / 1e-4, values.sum(), atol=5e-3)
    assert np.allclose(before - nothing, whole.sum(), atol=1e-3)


@given(seed=st.integers(0, 100), rows=st.integers(1, 3))
@examples(5)
def test_batches_order_and_seed(seed: int, rows: int) -> None:
    model, inputs = sharp("flan", 3), inputs_for("flan")
    weights, ids = decode(model, inputs).weights, names(inputs)
    whole = erasure(model, ids, inputs, weights, seed=seed)
    parts = []
    for start in range(0, len(inputs), rows):
        some = np.arange(start, min(start + rows, len(inputs)))
        parts.append(erasure(model, [ids[row] for row in some], inputs.take(some), weights.take(some), seed=seed))
    assert_frame_equal(pl.concat(parts), whole, abs_tol=1e-5)


def test_the_seed_is_all_that_is_random() -> None:
    model, inputs = sharp("flan", 3), Inputs(make_documents([[9, 9], [12]]).tokens)
    weights = decode(model, inputs).weights
    first, again, other = (erasure(model, names(inputs), inputs, weights, seed=seed) for seed in (0, 0, 1))
    assert_frame_equal(first, again)
    random = [name for name in first.columns if "random" in name]
    assert_frame_equal(first.drop(random), other.drop(random))
    assert not first.equals(other)


def test_what_is_left_is_spread_over_long_texts() -> None:
    model, inputs = sharp("flan", 3), Inputs(make_documents([[120], [30]]).tokens)
    frame = erasure(model, names(inputs), inputs, decode(model, inputs).weights, steps=20, rankings=["attention"])
    assert frame["step"].to_list() == [6, 2]


def test_unknown_names_are_refused() -> None:
    model, inputs = sharp("flan", 3), inputs_for("flan")
    weights = decode(model, inputs).weights
    with pytest.raises(BadConfig, match=r"unknown ranking 'atention' \(did you mean 'attention'"):
        erasure(model, names(inputs), inputs, weights, rankings=["atention"])
    with pytest.raises(BadConfig, match="unknown way of erasing 'blank'"):
        erasure(model, names(inputs), inputs, weights, ways=["blank"])
    with pytest.raises(BadConfig, match="steps = 0"):
        erasure(model, names(inputs), inputs, weights, steps=0)
    assert "attention" in RANKINGS
