"""The BiLSTM with a way back, step by step: the library's own also computes gradients of its weights, wanted or not."""

from typing import Any

import torch
from torch import Tensor

from heedful.importance.encoding import Differentiable, Encoding
from heedful.models.encoders import BiLSTM
from heedful.models.padded import Padded


class DifferentiableBiLSTM(Differentiable):
    """Both directions at once: step t reads the cells t on the way ahead and T - 1 - t on the way back."""

    encoder: BiLSTM

    def project(self, vectors: Tensor) -> Tensor:
        """(U, 2 * 4h): the words' part in the gates of both directions."""
        return vectors @ torch.cat([layer.weight_ih_l0 for layer in self._layers]).T

    def encode(self, projected: Padded) -> Encoding:
        """States and all gates, which the way back needs."""
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
            if padding is not None:  # a shut input gate keeps the way back at zero until its text begins
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
