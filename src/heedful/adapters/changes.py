"""Changes of attention: new weights of the items of some texts.

A change maps shares to shares: the share of a head's attention on items that goes to each of them, (B, H, T), every row
summing to one. Attention on tokens that are no items stays as it is. The tokens of an item share its weight in the
proportion they had.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from heedful.adapters.texts import NO_ITEM

Change = Callable[[Tensor], Tensor]  # shares (B, H, T) to shares (B, H, T)


def permuted(orders: Tensor) -> Change:
    """Item t gets the weight of item `orders[..., t]` (B, T), in every head."""
    return lambda shares: shares.gather(-1, orders[:, None].expand_as(shares))


def assigned(weights: Tensor) -> Change:
    """Every head attends by the same weights (B, T)."""
    return lambda shares: weights[:, None].to(shares.dtype).expand_as(shares)


def without(removed: Tensor) -> Change:
    """The flagged items (B, T) lose their weight to the others; where none is left, no item is attended to."""
    return lambda shares: normalised(shares.masked_fill(removed[:, None], 0.0))


def tilted(slopes: Tensor) -> Change:
    """Every head favours items by the same factors exp(slopes), (B, T)."""
    return lambda shares: normalised(shares * slopes.exp()[:, None].to(shares.dtype))


def shares_of(weights: Tensor, item: Tensor, items: int) -> Tensor:
    """Each item's share of the attention on items, (B, H, T), from weights (B, H, L) of tokens."""
    return normalised(masses_of(weights, item, items))


def masses_of(weights: Tensor, item: Tensor, items: int) -> Tensor:
    """Weights of tokens (B, H, L) summed up by the items (B, L) they belong to, (B, H, T)."""
    spots = item.where(item != NO_ITEM, items)[:, None].expand_as(weights)
    summed = weights.new_zeros(*weights.shape[:2], items + 1).scatter_add(2, spots, weights)
    return summed[..., :items]


def changed(weights: Tensor, item: Tensor, items: int, change: Change) -> Tensor:
    """Weights of tokens (B, H, L) after a change of what their items (B, L) weigh."""
    masses = masses_of(weights, item, items)  # (B, H, T)
    wanted = change(normalised(masses)) * masses.sum(dim=-1, keepdim=True)
    inside = item != NO_ITEM
    spots = item.where(inside, 0)[:, None].expand_as(weights)
    own, goal = masses.gather(2, spots), wanted.gather(2, spots)
    count = masses_of(torch.ones_like(weights), item, items).gather(2, spots).clamp(min=1)
    weightless = own <= 0  # its tokens have no proportion to share by
    parts = torch.where(weightless, goal / count, weights * (goal / own.where(~weightless, 1.0)))
    return parts.where(inside[:, None], weights)


def normalised(shares: Tensor) -> Tensor:
    """Rows that sum to one; rows of zeros stay so."""
    total = shares.sum(dim=-1, keepdim=True)
    return shares / total.where(total > 0, 1.0)
