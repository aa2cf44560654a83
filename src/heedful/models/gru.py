"""A bidirectional GRU over sequences of different lengths: both directions in one step, without padding.

torch's own runs one direction at a time, computes padding, and leaves autograd a dozen nodes per step. Here cells are
ordered by step, longest sequence first, so that each step reads a block; what all steps share (what tokens add to the
gates, the gradients of the weights) is one product.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor


class Step(NamedTuple):
    """A block of cells, of the sequences that are still going on."""

    before: int  # where the step before begins
    start: int
    stop: int


class Steps(NamedTuple):
    """The order in which both directions read the real cells of padded sequences."""

    reads: Tensor  # (2, N): which cell, counted row after row
    places: Tensor  # (2, N): where each cell is read, the inverse
    blocks: list[Step]

    @classmethod
    def of(cls, lengths: Tensor) -> "Steps":
        """From the lengths (B,) of the sequences."""
        long, order = lengths.sort(descending=True, stable=True)
        first = (lengths.cumsum(0) - lengths)[order]  # the first cell of each sequence
        step, place = (torch.arange(int(long[0]))[:, None] < long).nonzero().T  # (N,) each
        reads = first[place] + torch.stack([step, long[place] - 1 - step])
        ends = torch.bincount(step).cumsum(0).tolist()
        starts = [0, *ends[:-1]]
        return cls(reads, reads.argsort(dim=1), [*map(Step, [0, *starts[:-1]], starts, ends)])


class BidirectionalGRU(torch.autograd.Function):
    """From what cells (N, 2 * 3h) add to the gates (reset, update, new) of either direction to states (N, 2 * h)."""

    @staticmethod
    def forward(ctx: Any, read: Tensor, weight: Tensor, bias: Tensor, steps: Steps) -> Tensor:
        """`weight` (2, 3h, h) and `bias` (2, 3h) are those of the state before."""
        h = weight.shape[2]
        gates = _ordered(read, steps.reads)  # (2, N, 3h)
        states, recalled = gates.new_empty(2, gates.shape[1], h), gates.new_empty(2, gates.shape[1], h)
        before = gates.new_zeros(2, gates.shape[1], h)
        turned = weight.transpose(1, 2).contiguous()
        for earlier, start, stop in steps.blocks:
            gate, state = gates[:, start:stop], before[:, start:stop]
            if start:
                state.copy_(states[:, earlier : earlier + stop - start])
            added = torch.baddbmm(bias[:, None], state, turned)  # (2, n, 3h)
            gate[..., : 2 * h].add_(added[..., : 2 * h]).sigmoid_()
            recalled[:, start:stop] = added[..., 2 * h :]
            new = gate[..., 2 * h :].addcmul_(gate[..., :h], added[..., 2 * h :]).tanh_()
            states[:, start:stop] = torch.lerp(new, state, gate[..., h : 2 * h])
        ctx.save_for_backward(weight, before, gates, recalled)
        ctx.steps = steps
        return _in_rows(states, steps.places)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """From the last step to the first."""
        if torch.is_grad_enabled():  # by create_graph
            raise RuntimeError("a BiGRU has first derivatives only: leave create_graph out")
        weight, before, gates, recalled = ctx.saved_tensors
        h = weight.shape[2]
        reset, update, new = gates.chunk(3, dim=-1)
        # what later steps have no part in, for all steps at once: how the state moves with each gate, (2, N, 3h)
        of_new = (1 - update) * (1 - new**2)
        of_reset, of_update = of_new * recalled * reset * (1 - reset), (before - new) * update * (1 - update)
        slopes = torch.cat([of_reset, of_update, of_new], dim=-1)
        of_state = _ordered(gradients[0], ctx.steps.reads)
        of_read, of_added = torch.empty_like(gates), torch.empty_like(gates)
        for earlier, start, stop in reversed(ctx.steps.blocks):
            state = of_state[:, start:stop]
            read = slopes[:, start:stop] * state.repeat(1, 1, 3)
            of_read[:, start:stop] = read
            read[..., 2 * h :] *= reset[:, start:stop]
            of_added[:, start:stop] = read
            if start:
                of_state[:, earlier : earlier + stop - start] += (state * update[:, start:stop]).baddbmm_(read, weight)
        of_weight = of_added.transpose(1, 2) @ before
        return _in_rows(of_read, ctx.steps.places), of_weight, of_added.sum(dim=1), None


def _ordered(rows: Tensor, reads: Tensor) -> Tensor:
    """Split cells (N, 2 * F) into the two directions and put each into its reading order: (2, N, F)."""
    return torch.stack([half.index_select(0, read) for half, read in zip(rows.chunk(2, dim=1), reads, strict=True)])


def _in_rows(values: Tensor, places: Tensor) -> Tensor:
    """The inverse."""
    return torch.cat([half.index_select(0, place) for half, place in zip(values, places, strict=True)], dim=1)
