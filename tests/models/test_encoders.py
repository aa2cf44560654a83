"""Each encoder against the plainest way to compute it: one sequence at a time, no padding."""

import numpy as np
import pytest
import torch
from torch import nn

from benchmarks.plain import PlainBiLSTM
from heedful.models.attentions import Query
from heedful.models.batches import Padded, with_sentinels
from heedful.models.inference import predict
from heedful.ragged import Ragged
from tests.models.making import make_model, make_tokens

SIZES = [1, 2, 3, 9, 5, 1]


@pytest.mark.parametrize("outputs", [1, 3])
def test_bilstm_is_the_packed_bidirectional_lstm(outputs: int) -> None:
    model = make_model("bilstm", outputs=outputs)
    tokens = Padded.of(with_sentinels(make_tokens(SIZES)))
    with torch.no_grad():
        ours = model(model.embed(tokens)).logits
        plain = PlainBiLSTM(model)(tokens)
    assert torch.allclose(ours, plain, atol=1e-6)


def test_cnn_is_the_convolution_of_each_sequence_alone() -> None:
    model = make_model("cnn")
    framed = with_sentinels(make_tokens(SIZES))
    with torch.no_grad():
        states = model.encoder(model.embed(Padded.of(framed))).values
        for row, sequence in enumerate(framed):
            embedded = model.embedding[torch.from_numpy(sequence)].numpy()  # (T, E)
            for place in range(len(sequence)):
                expected = []
                for layer in model.encoder.convolutions:
                    weight, bias = layer.weight.numpy(), layer.bias.numpy()  # (F, E, kernel)
                    kernel = weight.shape[2]
                    total = bias.copy()
                    for offset in range(kernel):
                        at = place + offset - kernel // 2
                        if 0 <= at < len(sequence):
                            total += weight[:, :, offset] @ embedded[at]
                    expected.append(np.maximum(total, 0))
                assert np.allclose(states[row, place], np.concatenate(expected), atol=1e-5)


@pytest.mark.parametrize(("activation", "function"), [("relu", nn.ReLU()), ("tanh", nn.Tanh())])
def test_average_projects_each_token_by_itself(activation: str, function: nn.Module) -> None:
    from heedful.models.encoders import Average
    from heedful.models.options import AverageOptions

    encoder = Average(4, AverageOptions(hidden=3, activation=activation))
    values = torch.randn(2, 5, 4)
    states = encoder(Padded(values, torch.tensor([5, 2]))).values
    assert torch.allclose(states[1, 1], function(encoder.project(values[1, 1])), atol=1e-6)


def test_reversing_twice_is_nothing_and_padding_stays() -> None:
    padded = Padded(torch.arange(8.0).reshape(2, 4, 1), torch.tensor([4, 2]))
    once = padded.reversed()
    assert once.values[:, :, 0].tolist() == [[3, 2, 1, 0], [5, 4, 6, 7]]
    assert torch.equal(once.reversed().values, padded.values)
    full = Padded(padded.values, torch.tensor([4, 4]))
    assert full.reversed().values[1, :, 0].tolist() == [7, 6, 5, 4]


def test_the_gradient_of_reversing_is_right() -> None:
    values = torch.randn(3, 5, 2, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([5, 1, 3])
    assert torch.autograd.gradcheck(lambda cells: Padded(cells, lengths).reversed().values, values)


@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
def test_attention_is_a_distribution_over_real_items(encoder: str, attention: str) -> None:
    model = make_model(encoder, attention)
    reading = model(model.embed(Padded.of(with_sentinels(make_tokens(SIZES)))))
    weights = reading.weights.values
    assert torch.allclose(weights.sum(dim=1), torch.ones(len(SIZES)), atol=1e-6)
    assert (weights[~reading.weights.mask] == 0).all()
    assert weights.shape[1] == max(SIZES)


def test_additive_and_dot_attention_follow_their_formulas() -> None:
    states = torch.randn(1, 4, 12)
    additive, dot = make_model("bilstm", "additive").attention, make_model("bilstm", "dot").attention
    for place in range(4):
        h = states[0, place]
        expected = additive.score.weight[0] @ torch.tanh(additive.hidden.weight @ h + additive.hidden.bias)
        assert torch.allclose(additive.scores(states, Query())[0, place], expected, atol=1e-6)
        assert torch.allclose(dot.scores(states, Query())[0, place], dot.score.weight[0] @ h / 12**0.5, atol=1e-6)


def test_the_same_seed_gives_the_same_model_and_leaves_torchs_generator_alone() -> None:
    state = torch.random.get_rng_state()
    first, second, other = make_model(seed=1), make_model(seed=1), make_model(seed=2)
    assert torch.equal(torch.random.get_rng_state(), state)
    tokens = make_tokens([3, 4])
    assert np.array_equal(predict(first, tokens), predict(second, tokens))
    assert not np.array_equal(predict(first, tokens), predict(other, tokens))


def test_sentinels_frame_each_sequence() -> None:
    framed = with_sentinels(Ragged.from_rows([[7, 8], [9]], dtype=np.int32))
    assert [row.tolist() for row in framed] == [[2, 7, 8, 3], [2, 9, 3]]
