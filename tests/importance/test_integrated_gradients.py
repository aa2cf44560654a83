"""Integrated gradients are complete, and equal a plain sum of many gradients."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import BadConfig
from heedful.evidence import decide
from heedful.importance.integrated_gradients import integrated_gradients
from heedful.models.attentions import ATTENTIONS
from heedful.models.classifier import Classifier, with_sentinels
from heedful.models.decoders import output_of
from heedful.models.encoders import ENCODERS
from heedful.models.inference import predict
from heedful.models.options import AverageOptions
from heedful.models.padded import Padded
from heedful.ragged import Ragged
from tests.models.making import make_model, make_tokens

EVERY_MODEL = list(product(ENCODERS, ATTENTIONS, [1, 3]))
EVERY_ENCODER = [(encoder, "additive", 3) for encoder in ENCODERS]
sizes = st.lists(st.integers(1, 12), min_size=1, max_size=3).map(lambda sizes: [*sizes, 1, 2])
SMOOTH, KINKED = 1e-5, 2e-2  # quadrature errors at 32 nodes: ReLU bends the line in many places


def embedded_text(model: Classifier, row: NDArray[np.int32]) -> tuple[Padded, Tensor]:
    """The embedded text and its baseline: sentinels, zeros between them."""
    embedded = model.embed(Padded.of(with_sentinels(Ragged.from_rows([row]))))
    embedded = embedded.with_values(embedded.values.detach())
    baseline = torch.zeros_like(embedded.values)
    baseline[:, [0, -1]] = embedded.values[:, [0, -1]]
    return embedded, baseline


def explained(model: Classifier, row: NDArray[np.int32]) -> int:
    output = predict(model, Ragged.from_rows([row]))
    return 0 if output.shape[1] == 1 else int(decide(output)[0])


def trapezoid(model: Classifier, row: NDArray[np.int32], steps: int) -> NDArray[np.float64]:
    """The mean gradient between equal steps, times the way, in float64."""
    embedded, baseline = embedded_text(model, row)
    way = embedded.values - baseline
    shares = torch.linspace(0, 1, steps + 1, dtype=way.dtype)
    points = (baseline + shares[:, None, None] * way).requires_grad_()  # (S, T, E)
    output = output_of(model(Padded(points, embedded.lengths.expand(len(points)))).logits)
    (gradient,) = torch.autograd.grad(output[:, explained(model, row)].sum(), points)
    mean = torch.trapezoid(gradient, shares, dim=0)
    return (mean * way[0]).sum(dim=-1)[1:-1].numpy()


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
@given(sizes=sizes, seed=st.integers(0, 100))
@settings(max_examples=3, deadline=None)
def test_values_add_up_to_what_the_text_changes(
    encoder: str, attention: str, outputs: int, sizes: list[int], seed: int
) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs, seed=seed), make_tokens(sizes, seed)
    values, error = integrated_gradients(model, tokens)
    assert values.values.dtype == error.dtype == np.float32
    assert values.offsets is tokens.offsets
    assert error.max() < (SMOOTH if encoder == "bilstm" else KINKED)
    for index, row in enumerate(tokens):
        embedded, baseline = embedded_text(model, row)
        with torch.no_grad():
            here, there = (output_of(model(embedded.with_values(at)).logits) for at in (embedded.values, baseline))
        change = (here - there)[0, explained(model, row)].item()
        assert abs(values[index].sum() - change) == pytest.approx(error[index], abs=1e-6)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
def test_equals_a_plain_trapezoid_sum(encoder: str, attention: str, outputs: int) -> None:
    tokens = make_tokens([7, 1])
    ours = integrated_gradients(make_model(encoder, attention, outputs=outputs), tokens, steps=64).values
    precise = make_model(encoder, attention, outputs=outputs).double()
    for row, values in zip(tokens, ours, strict=True):
        assert np.allclose(values, trapezoid(precise, row, 500), atol=1e-5 if encoder == "bilstm" else 1e-3)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_model_linear_in_its_tokens_is_exact(outputs: int) -> None:
    """Small weights make it all but linear, equal attention gives each token the same share of its own score."""
    model = Classifier(
        embedding=np.random.default_rng(0).standard_normal((30, 10)).astype(np.float32),
        encoder="average",
        encoder_options=AverageOptions(hidden=8, activation="tanh"),
        attention="dot",
        outputs=outputs,
        seed=0,
    )
    with torch.no_grad():
        model.encoder.project.weight *= 1e-2
        model.encoder.project.bias.zero_()
        model.attention.score.weight.zero_()
        model.decoder.linear.weight[0] += 0.1  # so that it is decided clearly
        model.decoder.linear.bias.copy_(torch.tensor([3.0, 0.0, 0.0][:outputs]))
        model.decoder.linear.weight *= 1e-2
    tokens = make_tokens([1, 4, 9])
    values, error = integrated_gradients(model, tokens, steps=1)
    assert error.max() < 1e-6
    with torch.no_grad():
        slopes = torch.autograd.functional.jacobian(lambda row: output_of(row[None])[0, 0], model.decoder.bias)
        scores = model.decoder.scores(model.encoder.project(model.embedding)) @ slopes
    for row, attributions in zip(tokens, values, strict=True):
        assert np.allclose(attributions, scores[row] / len(row), rtol=1e-2, atol=1e-7)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_ENCODER)
def test_more_steps_do_not_worsen_the_error(encoder: str, attention: str, outputs: int) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs), make_tokens([1, 2, 5, 9, 12, 12, 15])
    few, many = (integrated_gradients(model, tokens, steps=steps).error.mean() for steps in (2, 32))
    assert many <= few + 1e-6


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_ENCODER)
def test_batch_order_and_padding_make_no_difference(encoder: str, attention: str, outputs: int) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs), make_tokens([3, 1, 8, 2, 5])
    values, error = integrated_gradients(model, tokens, steps=2)
    order = [4, 2, 0, 1, 3]
    other = integrated_gradients(model, tokens.take(order), steps=2)
    assert np.allclose(values.take(order).values, other.values.values, atol=1e-6)
    assert np.allclose(error[order], other.error, atol=1e-6)
    for row in range(len(tokens)):
        alone = integrated_gradients(model, tokens.take([row]), steps=2)
        assert np.allclose(values[row], alone.values.values, atol=1e-6)
        assert np.allclose(error[row], alone.error, atol=1e-6)


def test_one_output_is_explained_whatever_was_decided() -> None:
    model, tokens = make_model(), make_tokens([5, 6, 7])
    values = integrated_gradients(model, tokens).values
    with torch.no_grad():
        model.decoder.linear.weight.neg_()
        model.decoder.linear.bias.neg_()  # now the other class is decided, and the output is 1 - y
    assert np.allclose(values.values, -integrated_gradients(model, tokens).values.values, atol=1e-6)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_ENCODER)
def test_texts_of_unknown_words_are_defined(encoder: str, attention: str, outputs: int) -> None:
    unknown = Ragged.from_lengths(np.ones(7, dtype=np.int32), [1, 6])
    values, error = integrated_gradients(make_model(encoder, attention, outputs=outputs), unknown)
    assert np.isfinite(values.values).all()
    assert np.isfinite(error).all()


def test_words_without_a_vector_get_nothing() -> None:
    model = make_model()
    with torch.no_grad():
        model.embedding[7] = 0
    values, _ = integrated_gradients(model, Ragged.from_rows([[7, 5, 7]], dtype=np.int32))
    assert values.values[[0, 2]].tolist() == [0, 0]


def test_the_model_is_left_as_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = make_model(), make_tokens([4, 7])
    monkeypatch.setattr(model.decoder, "forward", lambda attended: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        integrated_gradients(model, tokens)
    monkeypatch.undo()
    integrated_gradients(model, tokens)
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())


def test_steps_are_at_least_one() -> None:
    with pytest.raises(BadConfig, match="one step at least"):
        integrated_gradients(make_model(), make_tokens([3]), steps=0)
