"""What holds for every model: batch size, padding and order make no difference; the smallest inputs are defined."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.models.attentions import ATTENTIONS
from heedful.models.encoders import ENCODERS
from heedful.models.inference import decode, predict
from heedful.models.inputs import with_sentinels
from heedful.models.observation import observe
from heedful.models.options import ATTENTION_NAMES, ENCODER_OPTIONS
from heedful.models.padded import Padded
from heedful.ragged import Ragged
from tests.models.making import make_model, make_tokens

EVERY_MODEL = list(product(ENCODERS, ATTENTIONS, [1, 3]))
sizes = st.lists(st.integers(1, 15), min_size=1, max_size=8)


def test_names_and_options_cover_every_model() -> None:
    assert set(ENCODERS) == set(ENCODER_OPTIONS)
    assert set(ATTENTIONS) == set(ATTENTION_NAMES)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
@given(sizes=sizes, batch_rows=st.integers(1, 4))
@settings(max_examples=10, deadline=None)
def test_batch_size_and_padding_make_no_difference(
    encoder: str, attention: str, outputs: int, sizes: list[int], batch_rows: int
) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs), make_tokens(sizes)
    together, apart = decode(model, tokens), decode(model, tokens, batch_rows=batch_rows)
    assert np.allclose(together.output, apart.output, atol=1e-5)
    assert np.allclose(together.weights.values, apart.weights.values, atol=1e-5)
    assert np.allclose(together.items.values, apart.items.values, atol=1e-5)
    alone = np.concatenate([predict(model, tokens.take([row])) for row in range(len(tokens))])
    assert np.allclose(together.output, alone, atol=1e-5)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
def test_order_makes_no_difference(encoder: str, attention: str, outputs: int) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs), make_tokens([3, 1, 8, 2, 5])
    order = [4, 2, 0, 1, 3]
    assert np.allclose(predict(model, tokens)[order], predict(model, tokens.take(order)), atol=1e-5)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
def test_what_lies_in_the_padding_makes_no_difference(encoder: str, attention: str, outputs: int) -> None:
    model = make_model(encoder, attention, outputs=outputs)
    clean = Padded.of(with_sentinels(make_tokens([2, 9])))
    dirty = clean.with_values(torch.where(clean.mask, clean.values, 17))
    with torch.no_grad():
        assert torch.allclose(model(model.embed(clean)).logits, model(model.embed(dirty)).logits, atol=1e-6)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
def test_one_token_has_all_the_attention(encoder: str, attention: str, outputs: int) -> None:
    decoded = decode(make_model(encoder, attention, outputs=outputs), make_tokens([1]))
    assert decoded.weights.values.tolist() == [1.0]
    assert np.isfinite(decoded.output).all()


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
def test_texts_of_unknown_words_are_defined(encoder: str, attention: str, outputs: int) -> None:
    unknown = Ragged.from_lengths(np.ones(7, dtype=np.int32), [1, 6])
    decoded = decode(make_model(encoder, attention, outputs=outputs), unknown)
    assert np.isfinite(decoded.output).all()
    assert np.isfinite(decoded.items.values).all()


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
@given(sizes=sizes)
@settings(max_examples=10, deadline=None)
def test_evidence_decodes_to_the_models_own_output(
    encoder: str, attention: str, outputs: int, sizes: list[int]
) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs), make_tokens(sizes)
    evidence = observe(
        model,
        tokens,
        ids=[str(row) for row in range(len(tokens))],
        tokens=tokens.like(tokens.values.astype(str).astype(object)),
    ).validate()
    assert np.allclose(evidence.decode(evidence.weights), evidence.output, atol=1e-5)
    assert np.allclose(evidence.output, predict(model, tokens), atol=1e-6)
