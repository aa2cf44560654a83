"""Encoders with fast vector-Jacobian products.

Autograd also computes gradients of the weights; these forms compute those of the embedded tokens alone.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from heedful.models.batches import Padded
from heedful.models.encoders import CNN, Average, BiLSTM


class Encoding(NamedTuple):
    """States and their vector-Jacobian product."""

    states: Padded  # (B, T, H)
    product: Callable[[Tensor], Tensor]  # gradient of the states (B, T, H) to each token . its gradient (B, T)


class Differentiable:
    """Any encoder, by autograd; its projected tokens are the embedded ones themselves."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def project(self, vectors: Tensor) -> Tensor:
        """Word vectors (U, E) to projected words (U, D); linear, so without any bias."""
        return vectors

    def encode(self, projected: Padded) -> Encoding:
        """States of projected tokens (B, T, D)."""
        leaf = projected.values.detach().requires_grad_()
        with torch.enable_grad():
            states = self.encoder(projected.with_values(leaf))

        def product(gradient: Tensor) -> Tensor:
            (back,) = torch.autograd.grad(states.values, leaf, gradient, retain_graph=True)
            return (projected.values * back).sum(dim=-1)

        return Encoding(states.with_values(states.values.detach()), product)


class DifferentiableAverage(Differentiable):
    """Each token by itself: only the activation has to be differentiated."""

    encoder: Average

    def project(self, vectors: Tensor) -> Tensor:
        """(U, H)."""
        return vectors @ self.encoder.project.weight.T

    def encode(self, projected: Padded) -> Encoding:
        """The activation of the projected tokens."""
        states = self.encoder.activation(projected.values + self.encoder.project.bias)
        slopes = states > 0 if self.encoder.activation is torch.relu else 1 - states**2
        changes = projected.values * slopes  # (B, T, H)
        return Encoding(projected.with_values(states), lambda gradient: (changes * gradient).sum(dim=-1))


class DifferentiableBiLSTM(Differentiable):
    """Both directions at once: step t reads cell t forward and cell T - 1 - t backward."""

    encoder: BiLSTM

    def project(self, vectors: Tensor) -> Tensor:
        """(U, 2 * 4h): the words' part in the gates of both directions."""
        return vectors @ torch.cat([layer.weight_ih_l0 for layer in self._layers]).T

    def encode(self, projected: Padded) -> Encoding:
        """States and all gates, which the backward pass needs."""
        weight = torch.stack([layer.weight_hh_l0 for layer in self._layers])  # (2, 4h, h)
        bias = torch.stack([layer.bias_ih_l0 + layer.bias_hh_l0 for layer in self._layers])[:, None]  # (2, 1, 4h)
        rows, width, hidden = *projected.values.shape[:2], weight.shape[2]
        padding = None if projected.full else ~projected.mask
        empty = projected.values.new_empty
        gates = empty(width, 2, rows, 4 * hidden)
        cells, bent = empty(2, width, 2, rows, hidden)  # (T, 2, B, h) each; bent: tanh of the cells
        states = empty(rows, width, 2 * hidden)
        state = cell = weight.new_zeros(2, rows, hidden)
        for t, gate in enumerate(gates):
            torch.add(_read(projected.values, t), bias, out=gate)
            if padding is not None:  # a shut input gate keeps the backward direction at zero until its text begins
                gate[1, :, :hidden].masked_fill_(padding[:, -1 - t, None], -torch.inf)
            gate.baddbmm_(state, weight.transpose(1, 2))
            gate[..., : 2 * hidden].sigmoid_()
            gate[..., 2 * hidden : 3 * hidden].tanh_()
            gate[..., 3 * hidden :].sigmoid_()
            take, keep, new, show = gate.chunk(4, dim=-1)
            cell = torch.mul(keep, cell, out=cells[t]).addcmul_(take, new)
            state = show * torch.tanh(cell, out=bent[t])
            states[:, t, :hidden], states[:, -1 - t, hidden:] = state

        def product(gradient: Tensor) -> Tensor:
            total = weight.new_zeros(rows, width)
            of_gate, of_cell = weight.new_zeros(2, rows, 4 * hidden), weight.new_zeros(2, rows, hidden)
            of_take, of_keep, of_new, of_show = of_gate.chunk(4, dim=-1)
            for t in reversed(range(width)):
                take, keep, new, show = gates[t].chunk(4, dim=-1)
                of_state = _read(gradient, t).baddbmm_(of_gate, weight)
                of_cell += of_state * show * (1 - bent[t] ** 2)
                torch.mul(of_cell * new, take * (1 - take), out=of_take)
                torch.mul(of_cell * (cells[t - 1] if t else 0), keep * (1 - keep), out=of_keep)
                torch.mul(of_cell * take, 1 - new**2, out=of_new)
                torch.mul(of_state * bent[t], show * (1 - show), out=of_show)
                of_cell *= keep
                ahead, back = _read(projected.values, t).mul_(of_gate).sum(dim=-1)
                total[:, t] += ahead
                total[:, -1 - t] += back
            return total

        return Encoding(projected.with_values(states), product)

    @property
    def _layers(self) -> tuple[Any, Any]:
        return self.encoder.ahead, self.encoder.back


def _read(values: Tensor, t: int) -> Tensor:
    """What both directions read at step t of their values side by side (B, T, 2 * D): (2, B, D)."""
    ahead, back = values.chunk(2, dim=-1)
    return torch.stack([ahead[:, t], back[:, -1 - t]])


class DifferentiableCNN(Differentiable):
    """Each place of a kernel projects a token by itself, so that the backward pass is a product as well."""

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
