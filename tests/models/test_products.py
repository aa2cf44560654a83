"""Products by oneDNN against the library's own, and additive attention's scores against autograd."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.functional import linear

from heedful.models.products import additive_scores, product
from tests.strategies import examples

LAYOUTS = {
    "contiguous": lambda values: values,
    "transposed": lambda values: values.T.contiguous().T,
    "columns of more": lambda values: torch.cat([values, values], dim=1)[:, : values.shape[1]],
    "every other row": lambda values: values.repeat_interleave(2, dim=0)[::2],
}


@given(
    shape=st.tuples(st.integers(0, 70), st.integers(1, 40), st.integers(1, 40)),
    layouts=st.tuples(st.sampled_from(sorted(LAYOUTS)), st.sampled_from(sorted(LAYOUTS))),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    biased=st.booleans(),
    tanh=st.booleans(),
)
@examples(60)
def test_products_are_those_of_the_library(
    shape: tuple[int, int, int], layouts: tuple[str, str], dtype: torch.dtype, biased: bool, tanh: bool
) -> None:
    rows, width, outputs = shape
    draw = torch.Generator().manual_seed(rows)
    values, weight = (torch.randn(size, width, generator=draw, dtype=dtype) for size in (rows, outputs))
    bias = torch.randn(outputs, generator=draw, dtype=dtype) if biased else None
    expected = linear(values, weight, bias)
    made = product(LAYOUTS[layouts[0]](values), LAYOUTS[layouts[1]](weight), bias, tanh=tanh)
    assert made.dtype == dtype
    assert torch.allclose(made, expected.tanh() if tanh else expected, atol=1e-5)


def plain_scores(states: Tensor, hidden: nn.Linear, score: nn.Linear) -> Tensor:
    scores: Tensor = score(torch.tanh(hidden(states)))
    return scores.squeeze(-1)


@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize("shape", [(2, 5, 6), (1, 6), (2, 3, 4, 6), (3, 0, 6)])
def test_additive_scores_and_their_gradients_are_autograds(
    shape: tuple[int, ...], dtype: torch.dtype, near: float
) -> None:
    torch.manual_seed(0)
    hidden, score = nn.Linear(6, 4).to(dtype), nn.Linear(4, 1, bias=False).to(dtype)
    states, pull = torch.randn(shape, dtype=dtype, requires_grad=True), torch.randn(shape[:-1], dtype=dtype)
    wanted = [states, *hidden.parameters(), *score.parameters()]
    ours, plain = (scores(states, hidden, score) for scores in (additive_scores, plain_scores))
    assert torch.allclose(ours, plain, atol=near)
    for one, other in zip(*(torch.autograd.grad((made * pull).sum(), wanted) for made in (ours, plain)), strict=True):
        assert torch.allclose(one, other, atol=near)


def test_scores_of_saturated_units_are_finite() -> None:
    hidden, score = nn.Linear(3, 2), nn.Linear(2, 1, bias=False)
    states = torch.tensor([[1e30, -1e30, 0.0], [1e4, 1e4, -1e4]], requires_grad=True)
    scores = additive_scores(states, hidden, score)
    scores.sum().backward()
    assert scores.isfinite().all()
    assert states.grad is not None
    assert states.grad.isfinite().all()
