"""The bidirectional GRU against the library's own over packed sequences: states, and every gradient."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from heedful.models.batches import Padded
from heedful.models.encoders import BiGRU, dropout
from heedful.models.gru import Steps
from heedful.models.options import BiGRUOptions
from tests.strategies import examples

sizes = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def both(hidden: int = 4) -> tuple[BiGRU, nn.GRU]:
    """Ours and the library's with the same parameters, biases included."""
    torch.manual_seed(0)
    encoder = BiGRU(3, BiGRUOptions(hidden=hidden)).double()
    whole = nn.GRU(3, hidden, batch_first=True, bidirectional=True).double()
    for name, parameter in encoder.ahead.named_parameters():
        nn.init.normal_(parameter, std=0.7)
        nn.init.normal_(getattr(encoder.back, name), std=0.7)
        getattr(whole, name).data.copy_(parameter.data)
        getattr(whole, f"{name}_reverse").data.copy_(getattr(encoder.back, name).data)
    return encoder, whole


def packed(whole: nn.GRU, values: Tensor, lengths: Tensor) -> Tensor:
    sequence = pack_padded_sequence(values, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(whole(sequence)[0], batch_first=True, total_length=values.shape[1])[0]


@given(sizes=sizes, seed=st.integers(0, 100), extra=st.integers(0, 2))
@examples(25)
def test_states_and_gradients_are_those_of_the_library(sizes: list[int], seed: int, extra: int) -> None:
    encoder, whole = both()
    lengths, draw = torch.tensor(sizes), torch.Generator().manual_seed(seed)
    values = torch.randn(len(sizes), max(sizes) + extra, 3, generator=draw, dtype=torch.float64)
    ours, theirs = values.clone().requires_grad_(), values.clone().requires_grad_()
    states, expected = encoder(Padded(ours, lengths)), packed(whole, theirs, lengths)
    assert torch.allclose(states.values, expected, atol=1e-12)  # zeros on padding in both
    pull = torch.randn(expected.shape, generator=draw, dtype=torch.float64)
    (states.values * pull).sum().backward()
    (expected * pull).sum().backward()
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-12)
    for name, parameter in encoder.ahead.named_parameters():
        assert torch.allclose(parameter.grad, getattr(whole, name).grad, atol=1e-12), name
        back = getattr(encoder.back, name).grad
        assert torch.allclose(back, getattr(whole, f"{name}_reverse").grad, atol=1e-12), name


@pytest.mark.parametrize("sizes", [[700, 3, 1], [1, 1, 1, 1], [1], [40] * 70])
def test_in_single_precision_long_and_short_sequences_are_near_the_librarys(sizes: list[int]) -> None:
    encoder, whole = (module.float() for module in both(hidden=17))
    lengths = torch.tensor(sizes)
    ours, theirs = (
        torch.randn(len(sizes), max(sizes), 3, generator=torch.Generator().manual_seed(1)) for _ in range(2)
    )
    states, expected = encoder(Padded(ours.requires_grad_(), lengths)), packed(whole, theirs.requires_grad_(), lengths)
    assert torch.allclose(states.values, expected, atol=1e-5)
    (states.values**2).mean().backward()
    (expected**2).mean().backward()
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-5)
    for name, parameter in encoder.ahead.named_parameters():
        assert torch.allclose(parameter.grad, getattr(whole, name).grad, atol=1e-5), name


@given(scale=st.sampled_from([1e-30, 1e3, 1e6, 1e15]), sizes=sizes, seed=st.integers(0, 100))
@examples(25)
def test_gates_that_are_saturated_or_idle_leave_states_and_gradients_finite(
    scale: float, sizes: list[int], seed: int
) -> None:
    encoder, whole = (module.float() for module in both())
    lengths, draw = torch.tensor(sizes), torch.Generator().manual_seed(seed)
    values = (scale * torch.randn(len(sizes), max(sizes), 3, generator=draw)).requires_grad_()
    states = encoder(Padded(values, lengths)).values
    states.sum().backward()
    assert torch.allclose(states, packed(whole, values.detach(), lengths), atol=1e-5)
    assert states.abs().max() <= 1
    for gradient in (values.grad, *(parameter.grad for parameter in encoder.parameters())):
        assert gradient.isfinite().all()


def test_gradients_may_be_asked_for_again() -> None:
    encoder, _ = both()
    values = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    states = encoder(Padded(values, torch.tensor([5, 2]))).values
    first, again = (torch.autograd.grad(states.sum(), values, retain_graph=True)[0] for _ in range(2))
    assert torch.equal(first, again)


def test_second_derivatives_are_refused_rather_than_wrong() -> None:
    encoder, _ = both()
    values = torch.randn(1, 3, 3, dtype=torch.float64, requires_grad=True)
    states = encoder(Padded(values, torch.tensor([3]))).values
    with pytest.raises(RuntimeError, match="first derivatives only"):
        torch.autograd.grad(states.sum(), values, create_graph=True)


def test_sequences_without_cells_have_no_states() -> None:
    encoder, _ = both()
    states = encoder(Padded(torch.zeros(2, 0, 3, dtype=torch.float64), torch.tensor([0, 0])))
    assert tuple(states.values.shape) == (2, 0, 8)
    mixed = encoder(Padded(torch.ones(2, 3, 3, dtype=torch.float64), torch.tensor([0, 3])))
    assert not mixed.values[0].any()
    assert mixed.values[1].all()


def test_steps_read_the_longest_sequence_first() -> None:
    steps = Steps.of(torch.tensor([2, 3, 1]), 4)
    assert steps.sizes == [3, 2, 1]
    assert steps.cells.tolist() == [4, 0, 8, 5, 1, 6]
    assert sorted(steps.padding.tolist()) == [2, 3, 7, 9, 10, 11]
    assert [*steps.ordered(back=False)] == [(0, None, 0), (1, 0, 2), (2, 1, 1)]
    assert [*steps.ordered(back=True)] == [(2, None, 0), (1, 2, 1), (0, 1, 2)]


def test_dropout_keeps_the_mean_and_follows_the_generator() -> None:
    values = torch.ones(400, 500)
    torch.manual_seed(3)
    first = dropout(values, 0.3, training=True)
    torch.manual_seed(3)
    again, other = dropout(values, 0.3, training=True), dropout(values, 0.3, training=True)
    assert torch.equal(first, again)
    assert not torch.equal(again, other)
    assert first.unique().tolist() == [0.0, pytest.approx(1 / 0.7)]
    assert first.mean().item() == pytest.approx(1, abs=0.01)
    assert (first == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
    assert dropout(values, 0.3, training=False) is values
    assert dropout(values, 0.0, training=True) is values
