"""Gradient importance equals plain autograd through the whole model, one text after another."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from heedful.importance.classifier_texts import ClassifierTexts
from heedful.importance.gradient import gradient
from heedful.importance.measure import output_slope
from heedful.models.attentions import Query
from heedful.models.batches import Padded, with_sentinels
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import ENCODERS
from heedful.models.inference import predict
from heedful.models.options import ATTENTIONS, AverageOptions
from heedful.ragged import Ragged
from tests.models.making import make_inputs, make_model, make_tokens
from tests.strategies import examples

EVERY_MODEL = list(product(ENCODERS, ATTENTIONS, [1, 3]))
EVERY_ENCODER = [(encoder, "additive", 3) for encoder in ENCODERS]
sizes = st.lists(st.integers(1, 12), min_size=1, max_size=3).map(lambda sizes: [*sizes, 1, 2])
seeds = st.integers(0, 100)


def plain_gradient(model: Classifier, row: NDArray[np.int32], *, attention_fixed: bool) -> NDArray[np.float32]:
    """Forward and backward into everything, the embedding table included."""
    tokens = Padded.of(with_sentinels(Ragged.from_rows([row])))
    columns = []
    for output in range(model.decoder.outputs):
        model.zero_grad()
        embedded = model.embed(tokens)
        embedded.values.retain_grad()
        states = model.encoder(embedded).inner()
        weights = model.attention(states, Query()).values
        if attention_fixed:
            weights = weights.detach()
        logits = model.decoder((weights[..., None] * states.values).sum(dim=1), Query())
        output_of(logits)[0, output].backward()
        columns.append((embedded.values * embedded.values.grad).sum(dim=-1)[0, 1:-1].abs().detach().numpy())
    model.zero_grad()
    return np.stack(columns, axis=1)


@pytest.mark.parametrize(("encoder", "attention"), list(product(ENCODERS, ATTENTIONS)))
@given(sizes=sizes, seed=seeds, attention_fixed=st.booleans())
@examples(4)
def test_given_a_query_it_is_of_the_decided_answer(
    encoder: str, attention: str, sizes: list[int], seed: int, attention_fixed: bool
) -> None:
    model = make_model(encoder, attention, outputs=5, seed=seed, query=True)
    inputs = make_inputs(sizes, seed, query=True, outputs=5)
    ours = gradient(ClassifierTexts(model, inputs), attention_fixed=attention_fixed)
    assert ours.values.shape == inputs.tokens.values.shape
    for row, values in enumerate(ours):
        alone = inputs.take(np.array([row]))
        query = model.query(alone)
        query = Query(query.vector.detach(), query.candidates)
        embedded = model.embed(Padded.of(with_sentinels(alone.tokens)))
        embedded.values.retain_grad()
        states = model.encoder(embedded).inner()
        weights = model.attention(states, query).values
        weights = weights.detach() if attention_fixed else weights
        output = output_of(model.decoder((weights[..., None] * states.values).sum(dim=1), query))[0]
        output[output.argmax()].backward()
        expected = (embedded.values * embedded.values.grad).sum(dim=-1)[0, 1:-1].abs().detach().numpy()
        assert np.allclose(values, expected, atol=1e-5)
        model.zero_grad()


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
@given(sizes=sizes, seed=seeds)
@examples(4)
def test_equals_plain_autograd(encoder: str, attention: str, outputs: int, sizes: list[int], seed: int) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs, seed=seed), make_tokens(sizes, seed)
    for attention_fixed in (True, False):
        ours = gradient(ClassifierTexts(model, tokens), attention_fixed=attention_fixed)
        assert ours.values.dtype == np.float32
        assert ours.values.shape == (len(tokens.values), outputs)
        assert ours.offsets is tokens.offsets
        for row, values in zip(tokens, ours, strict=True):
            assert np.allclose(values, plain_gradient(model, row, attention_fixed=attention_fixed), atol=1e-5)


@pytest.mark.parametrize("attention_fixed", [True, False])
def test_average_with_tanh_equals_plain_autograd(attention_fixed: bool) -> None:
    embedding = np.random.default_rng(0).standard_normal((30, 10)).astype(np.float32)
    options = AverageOptions(hidden=8, activation="tanh")
    model = Classifier(
        embedding=embedding, encoder="average", encoder_options=options, attention="additive", outputs=3, seed=0
    )
    tokens = make_tokens([1, 2, 7])
    for row, values in zip(
        tokens, gradient(ClassifierTexts(model, tokens), attention_fixed=attention_fixed), strict=True
    ):
        assert np.allclose(values, plain_gradient(model, row, attention_fixed=attention_fixed), atol=1e-6)


@pytest.mark.parametrize("attention_fixed", [True, False])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_encoders_without_a_way_back_of_their_own_are_differentiated_too(
    encoder: str, attention_fixed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokens = make_model(encoder, outputs=3), make_tokens([5, 1, 9, 2])
    own = gradient(ClassifierTexts(model, tokens), attention_fixed=attention_fixed)
    monkeypatch.setattr("heedful.importance.fast.forms.FORMS", {})
    by_autograd = gradient(ClassifierTexts(model, tokens), attention_fixed=attention_fixed)
    assert np.allclose(own.values, by_autograd.values, atol=1e-6)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
def test_equals_finite_differences(encoder: str, attention: str, outputs: int) -> None:
    """With attention not fixed, e . dy/de is the slope of y as the token grows along itself."""
    model, tokens = make_model(encoder, attention, outputs=outputs), make_tokens([6])
    ours = gradient(ClassifierTexts(model, tokens), attention_fixed=False)
    precise = make_model(encoder, attention, outputs=outputs).double()
    embedded = precise.embed(Padded.of(with_sentinels(tokens)))
    reach = 1e-6
    with torch.no_grad():
        for position in range(6):
            ends = []
            for share in (1 + reach, 1 - reach):
                values = embedded.values.detach().clone()
                values[0, position + 1] *= share
                ends.append(output_of(precise(embedded.with_values(values)).logits)[0])
            slope = ((ends[0] - ends[1]) / (2 * reach)).abs()
            assert np.allclose(ours[0][position], slope, atol=1e-5)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_ENCODER)
@given(sizes=sizes)
@examples(3)
def test_batch_order_and_padding_make_no_difference(
    encoder: str, attention: str, outputs: int, sizes: list[int]
) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs), make_tokens(sizes)
    together = gradient(ClassifierTexts(model, tokens))
    order = np.random.default_rng(0).permutation(len(tokens))
    assert np.allclose(
        together.take(order).values, gradient(ClassifierTexts(model, tokens.take(order))).values, atol=1e-6
    )
    for row, values in enumerate(together):
        assert np.allclose(values, gradient(ClassifierTexts(model, tokens.take([row]))).values, atol=1e-6)


def test_long_texts_are_read_in_bounded_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = make_model(), make_tokens([40, 3, 25, 60])
    whole = gradient(ClassifierTexts(model, tokens))
    monkeypatch.setattr("heedful.importance.fast.gradients.BATCH_CELLS", 50)
    assert np.allclose(whole.values, gradient(ClassifierTexts(model, tokens)).values, atol=1e-6)


def test_no_texts_have_no_values() -> None:
    nothing = Ragged.from_lengths(np.empty(0, dtype=np.int32), [])
    assert gradient(ClassifierTexts(make_model(outputs=3), nothing)).values.shape == (0, 3)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("attention_fixed", [True, False])
def test_the_model_is_left_as_found(encoder: str, attention_fixed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = make_model(encoder), make_tokens([4, 7])
    model.decoder.linear.bias.requires_grad_(False)
    model.embedding.grad = torch.ones_like(model.embedding)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    output = predict(model, tokens)

    def check() -> None:
        for name, parameter in model.named_parameters():
            assert parameter.requires_grad is (name != "decoder.linear.bias")
            assert torch.equal(parameter, before[name])
            assert (parameter.grad is None) is (name != "embedding")
        assert model.embedding.grad is not None
        assert model.embedding.grad.eq(1).all()
        assert torch.is_grad_enabled()

    gradient(ClassifierTexts(model, tokens), attention_fixed=attention_fixed)
    check()
    monkeypatch.setattr(model.decoder, "forward", lambda attended, query: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gradient(ClassifierTexts(model, tokens), attention_fixed=attention_fixed)
    check()
    monkeypatch.undo()
    assert np.array_equal(output, predict(model, tokens))


@pytest.mark.parametrize("attention_fixed", [True, False])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_frozen_models_and_callers_without_gradients_make_no_difference(encoder: str, attention_fixed: bool) -> None:
    model, tokens = make_model(encoder), make_tokens([4, 7])
    usual = gradient(ClassifierTexts(model, tokens), attention_fixed=attention_fixed).values
    with torch.no_grad():
        without = gradient(ClassifierTexts(model, tokens), attention_fixed=attention_fixed).values
    frozen = gradient(ClassifierTexts(model.requires_grad_(False), tokens), attention_fixed=attention_fixed).values
    assert np.allclose(usual, without, atol=1e-7)
    assert np.allclose(usual, frozen, atol=1e-7)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_ENCODER)
def test_texts_of_unknown_words_are_defined(encoder: str, attention: str, outputs: int) -> None:
    unknown = Ragged.from_lengths(np.ones(7, dtype=np.int32), [1, 6])
    values = gradient(ClassifierTexts(make_model(encoder, attention, outputs=outputs), unknown)).values
    assert np.isfinite(values).all()
    assert (values > 0).any()


@given(st.lists(st.floats(-12, 12), min_size=1, max_size=4))
def test_slopes_of_outputs_are_those_of_autograd(logits: list[float]) -> None:
    row = torch.tensor([logits], dtype=torch.float64)
    expected = torch.autograd.functional.jacobian(lambda row: output_of(row[None])[0], row[0])
    slopes = torch.cat([output_slope(row.float(), torch.tensor([k])) for k in range(row.shape[1])])
    assert torch.allclose(slopes.double(), expected, atol=1e-6)


def test_sure_outputs_keep_their_slopes() -> None:
    """A float32 output of 1 would say that nothing matters; its slope is small, and tells tokens apart all the same."""
    assert torch.sigmoid(torch.tensor(20.0)) == 1
    for logits in ([20.0], [20.0, 0.0]):
        assert output_slope(torch.tensor([logits]), torch.tensor([0]))[0, 0].item() == pytest.approx(
            np.exp(-20), rel=1e-5
        )
