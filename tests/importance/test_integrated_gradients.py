"""Integrated gradients are complete, and equal a plain sum of many gradients."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import BadConfig
from heedful.evidence import decide
from heedful.importance import integrated_gradients as module
from heedful.importance.classifier_texts import ClassifierTexts
from heedful.importance.integrated_gradients import integrated_gradients
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
SMOOTH, KINKED = 1e-5, 1e-2  # quadrature errors of the first pieces: ReLU bends the line in many places
TOLERANCE = 0.01


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


def sharp_model(encoder: str = "bilstm", outputs: int = 1) -> Classifier:
    """As training makes them: states that jump somewhere on the way."""
    model = make_model(encoder, outputs=outputs)
    with torch.no_grad():
        for part in (model.encoder, model.attention, model.decoder):
            for parameter in part.parameters():
                parameter.mul_(7 if encoder == "bigru" else 8)  # whose first parameters are larger
    return model


def plain_sum(model: Classifier, row: NDArray[np.int32], shares: Tensor, weights: Tensor) -> NDArray[np.float64]:
    """The weighted sum of the gradients at shares of the way, times the way, in float64."""
    embedded, baseline = embedded_text(model, row)
    way = embedded.values - baseline
    points = (baseline + shares[:, None, None] * way).requires_grad_()  # (S, T, E)
    output = output_of(model(Padded(points, embedded.lengths.expand(len(points)))).logits)
    (gradient,) = torch.autograd.grad(output[:, explained(model, row)].sum(), points)
    return ((weights[:, None, None] * gradient).sum(dim=0) * way[0]).sum(dim=-1)[1:-1].numpy()


def midpoints(model: Classifier, row: NDArray[np.int32], steps: int) -> NDArray[np.float64]:
    shares = (torch.arange(steps, dtype=torch.float64) + 0.5) / steps
    return plain_sum(model, row, shares, torch.full_like(shares, 1 / steps))


def gauss(model: Classifier, row: NDArray[np.int32], steps: int) -> NDArray[np.float64]:
    nodes, weights = map(torch.from_numpy, np.polynomial.legendre.leggauss(steps))
    return plain_sum(model, row, (nodes + 1) / 2, weights / 2)


def change(model: Classifier, row: NDArray[np.int32]) -> float:
    """What the explained output should be explained by: its way from the baseline."""
    embedded, baseline = embedded_text(model, row)
    with torch.no_grad():
        here, there = (output_of(model(embedded.with_values(at)).logits) for at in (embedded.values, baseline))
    return (here - there)[0, explained(model, row)].item()


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
@given(sizes=sizes, seed=st.integers(0, 100))
@examples(3)
def test_values_add_up_to_what_the_text_changes(
    encoder: str, attention: str, outputs: int, sizes: list[int], seed: int
) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs, seed=seed), make_tokens(sizes, seed)
    values, error = integrated_gradients(ClassifierTexts(model, tokens))
    assert values.values.dtype == error.dtype == np.float32
    assert values.offsets is tokens.offsets
    assert error.max() < (SMOOTH if encoder == "bilstm" else KINKED)
    for row, attributions, bound in zip(tokens, values, error, strict=True):
        assert abs(attributions.sum() - change(model, row)) <= bound + 1e-6


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
def test_equals_a_plain_sum(encoder: str, attention: str, outputs: int) -> None:
    tokens = make_tokens([7, 1])
    ours = integrated_gradients(
        ClassifierTexts(make_model(encoder, attention, outputs=outputs), tokens), tolerance=1e-3
    ).values
    precise = make_model(encoder, attention, outputs=outputs).double()
    for row, values in zip(tokens, ours, strict=True):
        assert np.allclose(values, midpoints(precise, row, 500), atol=1e-5 if encoder == "bilstm" else 1e-3)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("encoder", [name for name in ENCODERS if name != "none"])  # a line does not bend there
def test_sharp_bends_are_refined(encoder: str, outputs: int) -> None:
    model, tokens = sharp_model(encoder, outputs), make_tokens([3, 12, 9, 15, 1])
    precise = sharp_model(encoder, outputs).double()
    one_rule = [abs(gauss(precise, row, 16).sum() - change(precise, row)) for row in tokens]
    assert max(one_rule) > 2 * TOLERANCE  # so that there is something to refine
    values, error = integrated_gradients(ClassifierTexts(model, tokens), tolerance=TOLERANCE)
    assert error.max() <= TOLERANCE
    for row, attributions in zip(tokens, values, strict=True):
        assert abs(attributions.sum() - change(precise, row)) <= TOLERANCE
        assert np.allclose(attributions, midpoints(precise, row, 3000), atol=2 * TOLERANCE)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_smaller_tolerance_is_met(encoder: str) -> None:
    model, tokens = sharp_model(encoder), make_tokens([1, 2, 5, 9, 12, 12, 15])
    for tolerance in (0.1, 0.01, 0.001):
        assert integrated_gradients(ClassifierTexts(model, tokens), tolerance=tolerance).error.max() <= tolerance


def test_the_limit_bounds_the_gradients_and_what_is_open_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = sharp_model(), make_tokens([12, 15, 9])
    points = []
    slopes = module._Lines._slopes
    monkeypatch.setattr(
        module._Lines, "_slopes", lambda lines, rows, at: points.append(rows) or slopes(lines, rows, at)
    )
    for limit in (20, 60):
        points.clear()
        values, error = integrated_gradients(ClassifierTexts(model, tokens), tolerance=1e-9, limit=limit)
        assert torch.cat(points).bincount().max() <= limit
        assert error.max() > 1e-9
        for row, attributions, bound in zip(tokens, values, error, strict=True):
            assert abs(attributions.sum() - change(model, row)) <= bound + 1e-6
    first, _ = integrated_gradients(ClassifierTexts(model, tokens), tolerance=1e-9, limit=20)
    for row, attributions in zip(tokens, first, strict=True):
        nodes, weights = map(torch.from_numpy, np.polynomial.legendre.leggauss(5))
        shares = ((nodes + 1) / 8 + torch.arange(4)[:, None] / 4).flatten()
        plain = plain_sum(sharp_model().double(), row, shares, (weights / 8).repeat(4))
        assert np.allclose(attributions, plain, atol=1e-4)


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
    values, error = integrated_gradients(ClassifierTexts(model, tokens))
    assert error.max() < 1e-6
    with torch.no_grad():
        slopes = torch.autograd.functional.jacobian(lambda row: output_of(row[None])[0, 0], model.decoder.bias)
        scores = model.decoder.items(model.encoder.project(model.embedding)) @ slopes
    for row, attributions in zip(tokens, values, strict=True):
        assert np.allclose(attributions, scores[row] / len(row), rtol=1e-2, atol=1e-7)


@pytest.mark.parametrize("make", [make_model, sharp_model])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_batch_order_and_padding_make_no_difference(encoder: str, make: Callable[..., Classifier]) -> None:
    model, tokens = make(encoder, outputs=3), make_tokens([3, 1, 8, 2, 15])
    values, error = integrated_gradients(ClassifierTexts(model, tokens))
    order = [4, 2, 0, 1, 3]
    other = integrated_gradients(ClassifierTexts(model, tokens.take(order)))
    assert np.allclose(values.take(order).values, other.values.values, atol=1e-5)
    assert np.allclose(error[order], other.error, atol=1e-5)
    for row in range(len(tokens)):
        alone = integrated_gradients(ClassifierTexts(model, tokens.take([row])))
        assert np.allclose(values[row], alone.values.values, atol=1e-5)
        assert np.allclose(error[row], alone.error, atol=1e-5)


def test_batches_of_points_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = sharp_model(), make_tokens([3, 12, 15])
    values = integrated_gradients(ClassifierTexts(model, tokens)).values
    monkeypatch.setattr(module, "POINT_CELLS", 100)
    assert np.allclose(values.values, integrated_gradients(ClassifierTexts(model, tokens)).values.values, atol=1e-5)


def test_empty_texts_get_nothing() -> None:
    model, tokens = make_model(), make_tokens([0, 4, 0])
    values, error = integrated_gradients(ClassifierTexts(model, tokens))
    assert values.lengths.tolist() == [0, 4, 0]
    assert error[[0, 2]].tolist() == [0, 0]
    assert np.allclose(
        values[1], integrated_gradients(ClassifierTexts(model, tokens.take([1]))).values.values, atol=1e-6
    )
    assert len(integrated_gradients(ClassifierTexts(model, make_tokens([]))).error) == 0


def test_one_output_is_explained_whatever_was_decided() -> None:
    model, tokens = make_model(), make_tokens([5, 6, 7])
    values = integrated_gradients(ClassifierTexts(model, tokens)).values
    with torch.no_grad():
        model.decoder.linear.weight.neg_()
        model.decoder.linear.bias.neg_()  # now the other class is decided, and the output is 1 - y
    assert np.allclose(values.values, -integrated_gradients(ClassifierTexts(model, tokens)).values.values, atol=1e-6)


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_ENCODER)
def test_texts_of_unknown_words_are_defined(encoder: str, attention: str, outputs: int) -> None:
    unknown = Ragged.from_lengths(np.ones(7, dtype=np.int32), [1, 6])
    values, error = integrated_gradients(ClassifierTexts(make_model(encoder, attention, outputs=outputs), unknown))
    assert np.isfinite(values.values).all()
    assert np.isfinite(error).all()


def test_words_without_a_vector_get_nothing() -> None:
    model = make_model()
    with torch.no_grad():
        model.embedding[7] = 0
    values, _ = integrated_gradients(ClassifierTexts(model, Ragged.from_rows([[7, 5, 7]], dtype=np.int32)))
    assert values.values[[0, 2]].tolist() == [0, 0]


def test_the_model_is_left_as_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = make_model(), make_tokens([4, 7])
    monkeypatch.setattr(model.decoder, "forward", lambda attended, query: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        integrated_gradients(ClassifierTexts(model, tokens))
    monkeypatch.undo()
    integrated_gradients(ClassifierTexts(model, tokens))
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize("tolerance", [0, -0.1, np.nan, np.inf])
def test_the_tolerance_is_above_zero(tolerance: float) -> None:
    with pytest.raises(BadConfig, match="give a number above 0"):
        integrated_gradients(ClassifierTexts(make_model(), make_tokens([3])), tolerance=tolerance)


def test_the_limit_allows_the_first_gradients() -> None:
    with pytest.raises(BadConfig, match="every text takes 20 gradients"):
        integrated_gradients(ClassifierTexts(make_model(), make_tokens([3])), limit=19)


@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
def test_given_a_query_attributions_add_up_to_the_change_of_the_decided_answer(encoder: str, attention: str) -> None:
    model = make_model(encoder, attention, outputs=5, query=True)
    inputs = make_inputs([1, 4, 9], query=True, outputs=5)
    values, error = integrated_gradients(ClassifierTexts(model, inputs), tolerance=1e-4)
    output = predict(model, inputs)
    with torch.no_grad():
        embedded = model.embed(Padded.of(with_sentinels(inputs.tokens)))
        inside = torch.zeros_like(embedded.values)
        rows = torch.arange(len(inputs))
        inside[:, 0] = embedded.values[:, 0]
        inside[rows, embedded.lengths - 1] = embedded.values[rows, embedded.lengths - 1]
        nothing = output_of(model(embedded.with_values(inside), model.query(inputs)).logits).numpy()
    decided = output.argmax(axis=1)
    change = output[rows, decided] - nothing[rows, decided]
    assert np.abs(values.sum() - change).max() < 1e-3
    assert error.max() <= 1e-4 + 1e-6
