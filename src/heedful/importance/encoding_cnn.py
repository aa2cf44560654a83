"""The CNN with a way back: convolutions as sums of what each token gives to each place of a window."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from heedful.importance.encoding import Differentiable, Encoding
from heedful.models.encoders import CNN
from heedful.models.padded import Padded


class DifferentiableCNN(Differentiable):
    """Each place of a kernel projects a token by itself, so that the way back is a product as well."""

    encoder: CNN

    def project(self, vectors: Tensor) -> Tensor:
        """(U, places of all kernels * filters), each kernel's places from its last to its first."""
        weights = [layer.weight.flip(2).permute(2, 0, 1).flatten(0, 1) for layer in self._layers]  # (places * F, E)
        return vectors @ torch.cat(weights).T

    def encode(self, projected: Padded) -> Encoding:
        """A window's state is the sum of what its tokens give, bent by the ReLU."""
        rows, width = projected.values.shape[:2]
        kernels, filters = [layer.kernel_size[0] for layer in self._layers], self._layers[0].out_channels
        parts = projected.zeroed().values.split_with_sizes([kernel * filters for kernel in kernels], dim=2)
        given = [part.view(rows, width, -1, filters) for part in parts]  # (B, T, places, F) each
        states = torch.cat([layer.bias for layer in self._layers]).repeat(rows, width, 1)  # (B, T, H)
        for gifts, sums in zip(given, states.chunk(len(kernels), dim=2), strict=True):
            for place, gift in enumerate(gifts.unbind(dim=2)):
                shift = place - gifts.shape[2] // 2  # from the token to the middle of the window
                first, last = max(0, shift), max(0, width + min(0, shift))
                sums[:, first:last] += gift[:, first - shift : last - shift]
        states.relu_()

        def product(gradient: Tensor) -> Tensor:
            total = torch.zeros(rows, width)
            for gifts, slopes in zip(given, (gradient * (states > 0)).chunk(len(kernels), dim=2), strict=True):
                reach = gifts.shape[2] // 2
                windows = pad(slopes, (0, 0, reach, reach)).unfold(1, gifts.shape[2], 1)  # (B, T, F, places)
                total += (gifts * windows.transpose(2, 3)).sum(dim=(2, 3))
            return total

        return Encoding(projected.with_values(states), product)

    @property
    def _layers(self) -> list[Any]:
        return list(self.encoder.convolutions)
