"""Leave-one-out of convolutions: only windows that straddle the gap change.

A window's response is a sum over its taps: one matrix a place in the window, applied to the token in that place. Each
tap is applied to each token once; a window around a gap adds up the same terms in another combination.
"""

from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn

from heedful.importance.fast.deletions import weights_of
from heedful.importance.measure import Deletions
from heedful.models.batches import Inputs, Padded
from heedful.models.classifier import Classifier
from heedful.models.encoders import CNN

BLOCK_CELLS = 1 << 18  # attention weights at a time: bounds memory, and fits a cache


def neighbours(radius: int) -> list[int]:
    """Offsets of the tokens around one, itself left out."""
    return [*range(-radius, 0), *range(1, radius + 1)]


def band_deletions(
    model: Classifier, inputs: Inputs, states: Padded, changed: Iterable[Tensor], *, radius: int
) -> Deletions:
    """From the states (B, T, H) of whole texts and, neighbour by neighbour, their new states (B, T, H) around each gap.
    A new state beyond the end of a text means nothing."""
    decoder, query = model.decoder, model.query(inputs)
    rows, width = states.values.shape[:2]
    positions = torch.arange(width)
    scores = model.attention.scores(states.values, query).masked_fill(~states.mask, -torch.inf)  # (B, T)
    items = decoder.items(states.values)  # (B, T, D)
    near_scores = scores.new_empty(rows, width, 2 * radius)  # (B, T, C)
    near_items = items.new_empty(rows, width, 2 * radius, decoder.width)  # (B, T, C, D)
    for index, (offset, near) in enumerate(zip(neighbours(radius), changed, strict=True)):
        outside = (positions + offset < 0) | (positions + offset >= states.lengths[:, None])  # (B, T)
        near_scores[:, :, index] = model.attention.scores(near, query).masked_fill(outside, -torch.inf)
        near_items[:, :, index] = decoder.items(near)
    whole = decoder.logits((weights_of(scores, -1)[:, None] @ items).squeeze(1), query)  # (B, K)
    without = items.new_empty(rows, width, decoder.outputs)  # (B, T, K)
    step = max(1, BLOCK_CELLS // (rows * width))
    for first in range(0, width, step):
        block = positions[first : first + step]  # (P,) deleted tokens
        band = (positions - block[:, None]).abs() <= radius  # (P, T)
        far = scores[:, None].masked_fill(band, -torch.inf)  # (B, P, T)
        weights = weights_of(torch.cat([far, near_scores[:, block]], dim=-1), -1)  # (B, P, T + C)
        near = (weights[..., None, width:] @ near_items[:, block]).squeeze(-2)  # (B, P, 1, C) @ (B, P, C, D)
        without[:, block] = decoder.logits(weights[..., :width] @ items + near, query)
    return Deletions.of_logits(inputs.items, whole, without)


def average_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Each text is read once; no neighbour of a deleted token changes."""
    states = model.inner(model.encoder(model.read(inputs)))  # (B, T, H)
    return band_deletions(model, inputs, states, changed=[], radius=0)


def cnn_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Add up the taps of whole windows, and of those around each deleted token."""
    embedded = model.read(inputs).zeroed()  # (B, T + 2, E); without sentinels (B, T, E)
    convolutions = [cast(nn.Conv1d, convolution) for convolution in cast(CNN, model.encoder).convolutions]
    radius = max(convolution.kernel_size[0] for convolution in convolutions) // 2
    taps = [_Taps(convolution, embedded.values, radius, int(model.sentinels)) for convolution in convolutions]
    states = torch.cat([each.states(0) for each in taps], dim=-1)  # (B, T, H)
    changed = (torch.cat([each.states(offset) for each in taps], dim=-1) for offset in neighbours(radius))
    return band_deletions(model, inputs, model.inner(embedded).with_values(states), changed, radius=radius)


class _Taps:
    """One convolution's taps applied to all tokens, with zeros beyond the ends of the texts."""

    def __init__(self, convolution: nn.Conv1d, embedded: Tensor, furthest: int, sentinels: int) -> None:
        filters, width, size = convolution.weight.shape
        rows, length, _ = embedded.shape
        # (B, L, size * F): L tokens, with a sentinel on either side or with none
        taps = embedded @ convolution.weight.permute(1, 2, 0).reshape(width, size * filters)
        self.radius = size // 2
        self.bias = cast(Tensor, convolution.bias)
        self.tokens = length - 2 * sentinels
        self.first = sentinels  # where the first token stands
        self.margin = 2 * furthest  # from a token to the end of a window around its furthest neighbour
        self.values = embedded.new_zeros(size, rows, self.margin + length + self.margin, filters)
        inside = self.values[:, :, self.margin : self.margin + length]
        inside.copy_(taps.view(rows, length, size, filters).permute(2, 0, 1, 3))

    def states(self, offset: int) -> Tensor:
        """For each token the state (B, T, F) at `offset` from it, once it is deleted; offset 0: its own, still there.
        Places of the window that would fall on the deleted token or beyond lie one further."""
        total = self.bias
        for tap, place in enumerate(range(offset - self.radius, offset + self.radius + 1)):
            beyond = (offset < 0 <= place) - (place <= 0 < offset)  # 1, 0 or -1
            start = self.margin + self.first + place + beyond  # of the first token
            total = total + self.values[tap, :, start : start + self.tokens]
        return total.relu_()
