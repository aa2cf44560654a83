import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from heedful.adapters.changes import (
    Change,
    assigned,
    changed,
    masses_of,
    normalised,
    permuted,
    shares_of,
    tilted,
    without,
)
from heedful.adapters.texts import NO_ITEM

HEADS, ITEMS = 2, 4


@st.composite
def attention(draw: st.DrawFn, *, single: bool = False) -> tuple[Tensor, Tensor]:
    """Weights (B, H, L) in double precision and items (B, L); some weights are zero, some tokens of no item."""
    rows = draw(st.integers(1, 3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    if single:
        item = np.tile(np.arange(ITEMS), (rows, 1))
    else:
        item = np.sort(generator.integers(0, ITEMS, size=(rows, 8)), axis=1)
        item[generator.random(item.shape) < 0.2] = NO_ITEM
    weights = generator.dirichlet(np.full(item.shape[1], 0.5), size=(rows, HEADS))
    weights[generator.random(weights.shape) < 0.2] = 0
    return torch.from_numpy(weights), torch.from_numpy(item)


def changes(rows: int, seed: int) -> list[Change]:
    draw = torch.Generator().manual_seed(seed)
    orders = torch.stack([torch.randperm(ITEMS, generator=draw) for _ in range(rows)])
    weights = torch.rand(rows, ITEMS, generator=draw).double()
    removed = torch.rand(rows, ITEMS, generator=draw) < 0.5
    removed[:, 0] = False
    return [
        lambda shares: shares,
        permuted(orders),
        assigned(weights / weights.sum(dim=1, keepdim=True)),
        without(removed),
        tilted(torch.randn(rows, ITEMS, generator=draw)),
    ]


@given(attention())
def test_the_same_shares_are_the_same_weights(given: tuple[Tensor, Tensor]) -> None:
    weights, item = given
    assert torch.allclose(changed(weights, item, ITEMS, lambda shares: shares), weights, atol=1e-12)


@given(attention(), st.integers(0, 99))
def test_items_get_what_the_change_says_and_others_stay(given: tuple[Tensor, Tensor], seed: int) -> None:
    weights, item = given
    there = masses_of(torch.ones_like(weights), item, ITEMS) > 0  # an item without tokens cannot be attended to
    spent = masses_of(weights, item, ITEMS).sum(dim=-1, keepdim=True)
    for change in changes(len(weights), seed):
        other = changed(weights, item, ITEMS, change)
        wanted = change(shares_of(weights, item, ITEMS)) * spent
        assert torch.allclose(masses_of(other, item, ITEMS), wanted.where(there, 0.0), atol=1e-12)
        aside = (item == NO_ITEM)[:, None].expand_as(weights)
        assert torch.equal(other[aside], weights[aside])
        assert (other >= 0).all()
        if there.all() and bool((change(shares_of(weights, item, ITEMS)).sum(dim=-1) > 0).all()):
            assert torch.allclose(other.sum(dim=-1), weights.sum(dim=-1), atol=1e-12)


@given(attention(), st.integers(0, 99))
def test_tokens_of_an_item_share_in_proportion(given: tuple[Tensor, Tensor], seed: int) -> None:
    weights, item = given
    own = masses_of(weights, item, ITEMS)
    for change in changes(len(weights), seed):
        other = changed(weights, item, ITEMS, change)
        new = masses_of(other, item, ITEMS)
        for row, head, cell in np.ndindex(*weights.shape):
            which = int(item[row, cell])
            if which == NO_ITEM:
                continue
            tokens = int((item[row] == which).sum())
            part = weights[row, head, cell] / own[row, head, which] if own[row, head, which] > 0 else 1 / tokens
            assert torch.isclose(other[row, head, cell], new[row, head, which] * part, atol=1e-12)


@given(attention(single=True), st.integers(0, 99))
def test_a_permutation_of_single_tokens_is_a_plain_one(given: tuple[Tensor, Tensor], seed: int) -> None:
    weights, item = given
    orders = torch.stack([torch.randperm(ITEMS, generator=torch.Generator().manual_seed(seed)) for _ in weights])
    other = changed(weights, item, ITEMS, permuted(orders))
    for row, head in np.ndindex(*weights.shape[:2]):
        assert torch.allclose(other[row, head], weights[row, head][orders[row]], atol=1e-12)


def test_where_everything_is_removed_no_item_is_attended_to() -> None:
    weights, item = torch.tensor([[[0.3, 0.5, 0.2]]]), torch.tensor([[0, 1, NO_ITEM]])
    other = changed(weights, item, 2, without(torch.ones(1, 2, dtype=torch.bool)))
    assert torch.allclose(other, torch.tensor([[[0.0, 0.0, 0.2]]]))
    assert torch.equal(normalised(torch.zeros(2, 3)), torch.zeros(2, 3))


def test_gradients_flow_through_a_change() -> None:
    weights = torch.tensor([[[0.5, 0.25, 0.25, 0.0]]], dtype=torch.float64, requires_grad=True)
    item = torch.tensor([[0, 0, 1, 2]])
    slopes = torch.tensor([[0.3, -0.2, 0.1]], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda w: changed(w, item, 3, tilted(slopes)), (weights + 1e-3,))
