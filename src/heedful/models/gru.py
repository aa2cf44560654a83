"""A bidirectional GRU over sequences of different lengths, without padding.

torch's own leaves autograd a dozen nodes per step. Here the cells of a step are neighbours, longest sequence first, so
that a step reads and writes blocks; what all steps share (what tokens add to the gates, the gradients of the weights)
is left to large products.

States are kept as (1 + h) / 2. A state is a weighted mean of the new state and the one before, and stays one under this
map; tanh(x) = 2 sigmoid(2x) - 1 makes the new state a sigmoid. torch's tanh took six times as long where we measured.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from heedful.models.products import product

START = 0.5  # a state of zero
CHUNK = 1024  # cells whose gradients are read several times while they are in the processor's cache


class Steps(NamedTuple):
    """The real cells of padded sequences, step by step: those of a step are the next `sizes[step]`."""

    cells: Tensor  # (N,) as counted row after row, padding included
    padding: Tensor  # (P,) the others
    places: Tensor  # (N + P,) where each cell is in `cells`; any place for padding
    sizes: list[int]  # how many sequences go on, never more than in the step before

    @classmethod
    def of(cls, lengths: Tensor, width: int) -> "Steps":
        """From the lengths (B,) of sequences padded to a width."""
        long, order = lengths.sort(descending=True, stable=True)
        step = torch.arange(width)[:, None]
        real, cells = step < long, step + order * width  # (T, B)
        read, places = cells[real], torch.zeros(cells.numel(), dtype=torch.int64)
        places[read] = torch.arange(len(read))
        return cls(read, cells[~real], places, real.sum(dim=1)[: int(long.max())].tolist())

    def ordered(self, *, back: bool) -> Iterator[tuple[int, int | None, int]]:
        """Each step as a direction reads it, the one before it (None: it is the first), and the number of sequences
        that are in both. Sequences end one by one when they are read ahead, and join one by one when read back."""
        last = None
        for step in reversed(range(len(self.sizes))) if back else range(len(self.sizes)):
            yield step, last, 0 if last is None else min(self.sizes[step], self.sizes[last])
            last = step


class Weights(NamedTuple):
    """The parameters of both directions as the recursion has them: for states (1 + h) / 2, and doubled for the gate of
    the new state."""

    read: Tensor  # (2 * 3h, E), gates in the order reset, update, new
    bias: Tensor  # (2 * 3h,), those of reset and update in one
    recurrent: Tensor  # (2, h, 3h)
    recurrent_bias: Tensor  # (2, h), of the new state alone: it is added before the reset

    @classmethod
    def of(cls, *layers: nn.GRU) -> "Weights":
        """From one-way layers, the first ahead and the second back; gradients reach their parameters."""
        h = layers[0].hidden_size
        read, bias, recurrent, recurrent_bias = (
            torch.stack([getattr(layer, f"{name}_l0") for layer in layers])
            for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
        )
        scale = read.new_ones(3 * h)
        scale[2 * h :] = 2
        recalled = (recurrent_bias - recurrent.sum(dim=2)) * scale  # W h = 2 W (1 + h) / 2 - W 1
        bias = torch.cat([bias[:, : 2 * h] + recalled[:, : 2 * h], 2 * bias[:, 2 * h :]], dim=1)
        return cls(
            (read * scale[:, None]).flatten(0, 1),
            bias.flatten(),
            (recurrent * (2 * scale[:, None])).transpose(1, 2).contiguous(),
            recalled[:, 2 * h :],
        )


class BidirectionalGRU(torch.autograd.Function):
    """From padded cells (B * T, E) to their states (B * T, 2 * h), zeros on padding."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, steps: Steps, *weights: Tensor) -> Tensor:
        """`weights` are `Weights`."""
        read, bias, recurrent, recurrent_bias = weights
        h = recurrent.shape[1]
        cells = values.index_select(0, steps.cells)
        gates = product(cells, read, bias)  # (N, 2 * 3h)
        before, recalled = gates.new_full((2, len(cells), h), START), gates.new_empty(2, len(cells), h)
        states = gates.new_empty(len(cells), 2 * h)
        for way, (gate, state) in enumerate(zip(gates.chunk(2, dim=1), states.chunk(2, dim=1), strict=True)):
            turned, turned_new = torch.split_with_sizes(recurrent[way], [2 * h, h], dim=1)
            resets, updates, news = (_blocks(part, steps) for part in gate.chunk(3, dim=1))
            both, entering = _blocks(gate[:, : 2 * h], steps), _blocks(before[way], steps)
            recalls, leaving = _blocks(recalled[way], steps), _blocks(state, steps)
            for step, last, kept in steps.ordered(back=way == 1):
                enter = entering[step]
                if last is not None:
                    _first(enter, kept).copy_(_first(leaving[last], kept))
                both[step].addmm_(enter, turned).sigmoid_()
                recall = torch.addmm(recurrent_bias[way], enter, turned_new, out=recalls[step])
                new = news[step].addcmul_(resets[step], recall).sigmoid_()
                torch.lerp(new, enter, updates[step], out=leaving[step])
        ctx.save_for_backward(cells, read, recurrent, gates, before, recalled)
        ctx.steps = steps
        return _laid_out(states.mul_(2).sub_(1), steps)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """From the last step to the first."""
        if torch.is_grad_enabled():  # by create_graph
            raise RuntimeError("a BiGRU has first derivatives only: leave create_graph out")
        cells, read, recurrent, gates, before, recalled = ctx.saved_tensors
        steps, h = ctx.steps, recurrent.shape[1]
        of_gates, of_recalled = torch.empty_like(gates), torch.empty_like(recalled)
        of_states = gradients[0].index_select(0, steps.cells).mul_(2)
        of_recurrent = torch.empty_like(recurrent)
        for way, (gate, of_gate) in enumerate(zip(gates.chunk(2, dim=1), of_gates.chunk(2, dim=1), strict=True)):
            _slopes(gate, before[way], recalled[way], out=of_gate)
            of_state = of_states[:, way * h : (way + 1) * h]
            turned, turned_new = torch.split_with_sizes(recurrent[way].T, [2 * h, h])
            resets, updates, _ = (_blocks(part, steps) for part in gate.chunk(3, dim=1))
            of_blocks, of_all = _blocks(of_state, steps), _blocks(of_gate.view(-1, 3, h), steps)
            of_both, of_news = _blocks(of_gate[:, : 2 * h], steps), _blocks(of_gate[:, 2 * h :], steps)
            of_recalls = _blocks(of_recalled[way], steps)
            for step, last, kept in reversed([*steps.ordered(back=way == 1)]):
                state = of_blocks[step]
                of_all[step].mul_(state[:, None])
                of_recall = torch.mul(of_news[step], resets[step], out=of_recalls[step])
                if last is not None:
                    earlier = _first(of_blocks[last], kept).addmm_(_first(of_both[step], kept), turned)
                    earlier.addmm_(_first(of_recall, kept), turned_new)
                    earlier.addcmul_(_first(state, kept), _first(updates[step], kept))
            of_recurrent[way, :, : 2 * h] = before[way].T @ of_gate[:, : 2 * h]
            of_recurrent[way, :, 2 * h :] = before[way].T @ of_recalled[way]
        of_values = cells.new_empty(len(steps.places), cells.shape[1]).index_fill_(0, steps.padding, 0.0)
        of_read, of_bias = torch.zeros_like(read.T), torch.zeros_like(read[:, 0])
        for start in range(0, len(cells), CHUNK):
            some = slice(start, start + CHUNK)
            of_values.index_copy_(0, steps.cells[some], product(of_gates[some], read.T))
            of_read += product(cells[some].T, of_gates[some].T)
            of_bias += of_gates[some].sum(dim=0)
        return of_values, None, of_read.T, of_bias, of_recurrent, of_recalled.sum(dim=1)


def _laid_out(cells: Tensor, steps: Steps) -> Tensor:
    """Cells (N, F) where they were, (B * T, F), and zeros on padding."""
    if not len(cells):
        return cells.new_zeros(len(steps.padding), cells.shape[1])
    return cells.index_select(0, steps.places).index_fill_(0, steps.padding, 0.0)


def _blocks(cells: Tensor, steps: Steps) -> tuple[Tensor, ...]:
    """What each step has of the cells."""
    return torch.split_with_sizes(cells, steps.sizes)


def _first(block: Tensor, rows: int) -> Tensor:
    """The first rows of a block; most often they are all, and a slice costs as much as some arithmetic."""
    return block if len(block) == rows else block[:rows]


def _slopes(gate: Tensor, before: Tensor, recalled: Tensor, *, out: Tensor) -> None:
    """How a state moves with each of its gates, (N, 3h): what later steps have no part in, for all steps at once."""
    reset, update, new = gate.chunk(3, dim=1)
    of_reset, of_update, of_new = out.chunk(3, dim=1)
    derivative = torch.ops.aten.sigmoid_backward.grad_input  # of a sigmoid, from its value, times its first argument
    spare = 1 - update
    derivative(spare, new, grad_input=of_new)
    derivative(torch.mul(of_new, recalled, out=spare), reset, grad_input=of_reset)
    derivative(torch.sub(before, new, out=spare), update, grad_input=of_update)
