"""What holds for every model: batch size, padding and order make no difference; the smallest inputs are defined."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.models.batches import Inputs, Padded, with_sentinels
from heedful.models.classifier import Classifier, padded_query
from heedful.models.encoders import ENCODERS
from heedful.models.inference import decode, observe, predict
from heedful.models.options import ATTENTIONS, ENCODER_OPTIONS
from heedful.ragged import Ragged
from tests.models.making import make_inputs, make_model, make_tokens
from tests.strategies import examples

Kind = tuple[int, bool]  # outputs, and whether there are queries

EVERY_MODEL = list(product(ENCODERS, ATTENTIONS, [(1, False), (3, False), (5, True)]))
sizes = st.lists(st.integers(1, 15), min_size=1, max_size=8)


def model_of(encoder: str, attention: str, kind: Kind) -> Classifier:
    outputs, query = kind
    return make_model(encoder, attention, outputs=outputs, query=query)


def inputs_for(kind: Kind, sizes: list[int]) -> Inputs:
    outputs, query = kind
    return make_inputs(sizes, query=query, outputs=outputs)


def test_names_and_options_cover_every_model() -> None:
    assert set(ENCODERS) == set(ENCODER_OPTIONS)
    assert all(ATTENTIONS[name].usual and ATTENTIONS[name].to_query for name in ATTENTIONS)


@pytest.mark.parametrize(("encoder", "attention", "kind"), EVERY_MODEL)
@given(sizes=sizes, batch_rows=st.integers(1, 4))
@examples(10)
def test_batch_size_and_padding_make_no_difference(
    encoder: str, attention: str, kind: Kind, sizes: list[int], batch_rows: int
) -> None:
    model, inputs = model_of(encoder, attention, kind), inputs_for(kind, sizes)
    together, apart = decode(model, inputs), decode(model, inputs, batch_rows=batch_rows)
    assert np.allclose(together.output, apart.output, atol=1e-5)
    assert np.allclose(together.weights.values, apart.weights.values, atol=1e-5)
    assert np.allclose(together.items.values, apart.items.values, atol=1e-5)
    if together.context is not None and apart.context is not None:
        assert np.allclose(together.context, apart.context, atol=1e-5)
    alone = np.concatenate([predict(model, inputs.take(np.array([row]))) for row in range(len(inputs))])
    assert np.allclose(together.output, alone, atol=1e-5)


@pytest.mark.parametrize(("encoder", "attention", "kind"), EVERY_MODEL)
def test_order_makes_no_difference(encoder: str, attention: str, kind: Kind) -> None:
    model, inputs = model_of(encoder, attention, kind), inputs_for(kind, [3, 1, 8, 2, 5])
    order = np.array([4, 2, 0, 1, 3])
    assert np.allclose(predict(model, inputs)[order], predict(model, inputs.take(order)), atol=1e-5)


@pytest.mark.parametrize(("encoder", "attention", "kind"), EVERY_MODEL)
def test_what_lies_in_the_padding_makes_no_difference(encoder: str, attention: str, kind: Kind) -> None:
    model, inputs = model_of(encoder, attention, kind), inputs_for(kind, [2, 9])
    clean = Padded.of(with_sentinels(inputs.tokens))
    with torch.no_grad():
        query = model.query(inputs)
        logits = [model(model.embed(tokens), query).logits for tokens in (clean, soiled(clean))]
        assert torch.allclose(*logits, atol=1e-6)
        if model.question is not None:
            asked = padded_query(inputs)
            vectors = [model.question(model.question.embed(query)) for query in (asked, soiled(asked))]
            assert torch.allclose(*vectors, atol=1e-6)


def soiled(tokens: Padded) -> Padded:
    return tokens.with_values(torch.where(tokens.mask, tokens.values, 17))


@pytest.mark.parametrize(("encoder", "attention"), list(product(ENCODERS, ATTENTIONS)))
def test_the_query_matters_to_attention_and_output(encoder: str, attention: str) -> None:
    model = make_model(encoder, attention, outputs=5, query=True)
    one = make_inputs([6, 9], query=True, outputs=5, candidates=False)
    other = replace(one, query=make_tokens([3, 4], seed=9))
    first, second = decode(model, one), decode(model, other)
    assert np.abs(first.weights.values - second.weights.values).max() > 1e-4
    assert np.abs(first.output - second.output).max() > 1e-4


@pytest.mark.parametrize(("encoder", "attention"), list(product(ENCODERS, ATTENTIONS)))
def test_only_candidates_are_answered(encoder: str, attention: str) -> None:
    model = make_model(encoder, attention, outputs=5, query=True)
    free = make_inputs([6, 9], query=True, outputs=5, candidates=False)
    bound = replace(free, candidates=Ragged.from_rows([[3], [0, 4]], dtype=np.int32))
    every, some = predict(model, free), predict(model, bound)
    assert some[0].tolist() == [0, 0, 0, 1, 0]
    expected = np.where([True, False, False, False, True], every[1], 0)
    assert np.allclose(some[1], expected / expected.sum(), atol=1e-6)


@pytest.mark.parametrize(("encoder", "attention", "kind"), EVERY_MODEL)
def test_one_token_has_all_the_attention(encoder: str, attention: str, kind: Kind) -> None:
    decoded = decode(model_of(encoder, attention, kind), inputs_for(kind, [1]))
    assert decoded.weights.values.tolist() == [1.0]
    assert np.isfinite(decoded.output).all()


@pytest.mark.parametrize(("encoder", "attention", "kind"), EVERY_MODEL)
def test_texts_of_unknown_words_are_defined(encoder: str, attention: str, kind: Kind) -> None:
    unknown = Ragged.from_lengths(np.ones(7, dtype=np.int32), [1, 6])
    queries = Ragged.from_lengths(np.ones(3, dtype=np.int32), [1, 2]) if kind[1] else None
    decoded = decode(model_of(encoder, attention, kind), Inputs(unknown, queries))
    assert np.isfinite(decoded.output).all()
    assert np.isfinite(decoded.items.values).all()


@pytest.mark.parametrize(("encoder", "attention", "kind"), EVERY_MODEL)
@given(sizes=sizes)
@examples(10)
def test_evidence_decodes_to_the_models_own_output(encoder: str, attention: str, kind: Kind, sizes: list[int]) -> None:
    model, inputs = model_of(encoder, attention, kind), inputs_for(kind, sizes)
    evidence = observe(
        model,
        inputs,
        ids=[str(row) for row in range(len(inputs))],
        tokens=inputs.tokens.like(inputs.tokens.values.astype(str).astype(object)),
    ).validate()
    assert np.allclose(evidence.decode(evidence.weights), evidence.output, atol=1e-5)
    assert np.allclose(evidence.output, predict(model, inputs), atol=1e-6)
