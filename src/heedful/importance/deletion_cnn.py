"""Leave-one-out of convolutions: only windows that straddle the gap change.

A window's response is a sum over its taps: one matrix a place in the window, applied to the token in that place. Each
tap is applied to each token once; a window around a gap adds up the same terms in another combination.
"""

from typing import cast

import torch
from torch import Tensor, nn

from heedful.importance.deletion import Deletions
from heedful.importance.deletion_band import band_deletions, neighbours
from heedful.models.classifier import Classifier
from heedful.models.encoders import CNN
from heedful.models.inputs import Inputs


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

        Places of the window that would fall on the deleted token or beyond lie one further.
        """
        total = self.bias
        for tap, place in enumerate(range(offset - self.radius, offset + self.radius + 1)):
            beyond = (offset < 0 <= place) - (place <= 0 < offset)  # 1, 0 or -1
            start = self.margin + self.first + place + beyond  # of the first token
            total = total + self.values[tap, :, start : start + self.tokens]
        return total.relu_()
