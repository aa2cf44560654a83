"""Logits with each token deleted when only its neighbours' states change, those up to some distance away.

Each deletion takes a softmax of its own over what is left. Taking the deleted token's share out of one sum over all
would lose every digit where that token has nearly all the attention.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from heedful.importance.deletion import Deletions, weights_of
from heedful.models.classifier import Classifier
from heedful.models.inputs import Inputs
from heedful.models.padded import Padded

BLOCK_CELLS = 1 << 18  # attention weights at a time: bounds memory, and fits a cache


def neighbours(radius: int) -> list[int]:
    """Offsets of the tokens around one, itself left out."""
    return [*range(-radius, 0), *range(1, radius + 1)]


def band_deletions(
    model: Classifier, inputs: Inputs, states: Padded, changed: Iterable[Tensor], *, radius: int
) -> Deletions:
    """From the states (B, T, H) of whole texts and, neighbour by neighbour, their new states (B, T, H) around each gap.

    A new state beyond the end of a text means nothing.
    """
    decoder, given = model.decoder, model.given(inputs)
    rows, width = states.values.shape[:2]
    positions = torch.arange(width)
    scores = model.attention.scores(states.values, given).masked_fill(~states.mask, -torch.inf)  # (B, T)
    items = decoder.items(states.values)  # (B, T, D)
    near_scores = scores.new_empty(rows, width, 2 * radius)  # (B, T, C)
    near_items = items.new_empty(rows, width, 2 * radius, decoder.width)  # (B, T, C, D)
    for index, (offset, near) in enumerate(zip(neighbours(radius), changed, strict=True)):
        outside = (positions + offset < 0) | (positions + offset >= states.lengths[:, None])  # (B, T)
        near_scores[:, :, index] = model.attention.scores(near, given).masked_fill(outside, -torch.inf)
        near_items[:, :, index] = decoder.items(near)
    whole = decoder.logits((weights_of(scores, -1)[:, None] @ items).squeeze(1), given)  # (B, K)
    without = items.new_empty(rows, width, decoder.outputs)  # (B, T, K)
    step = max(1, BLOCK_CELLS // (rows * width))
    for first in range(0, width, step):
        block = positions[first : first + step]  # (P,) deleted tokens
        band = (positions - block[:, None]).abs() <= radius  # (P, T)
        far = scores[:, None].masked_fill(band, -torch.inf)  # (B, P, T)
        weights = weights_of(torch.cat([far, near_scores[:, block]], dim=-1), -1)  # (B, P, T + C)
        near = (weights[..., None, width:] @ near_items[:, block]).squeeze(-2)  # (B, P, 1, C) @ (B, P, C, D)
        without[:, block] = decoder.logits(weights[..., :width] @ items + near, given)
    return Deletions.of_logits(inputs.items, whole, without)
