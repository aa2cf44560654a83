"""One direction of a BiLSTM with each token deleted, in chains that start behind the gap.

What the tokens add to the gates is the same in every chain and computed once. The chains of many deletions run
together, one matrix product a step, in buffers that are reused.

Two changes of scale save passes over memory. A sigmoid is a tanh, (1 + tanh(x / 2)) / 2: with the weights of the three
sigmoid gates halved, one call serves all four gates. And states are kept doubled, 2h = (1 + o) tanh(c) with o the tanh
of the output gate: whatever multiplies them is halved.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Step(NamedTuple):
    """Where the chains of a block have arrived."""

    position: int
    active: slice  # the deletions of the block whose chains have started
    doubled: Tensor  # (P, B, H) twice their states at the position


class Direction:
    """A one-way LSTM over a batch of texts, time first: step 1 reads ahead, -1 back from each text's own end."""

    def __init__(self, lstm: nn.LSTM, embedded: Tensor, real: Tensor, *, step: int) -> None:
        """Read the whole texts: embedded tokens (L, B, E), of which those marked in (L, B) are real."""
        length, rows, _ = embedded.shape
        hidden = lstm.hidden_size
        scale = torch.tensor([0.5, 0.5, 1.0, 0.5]).repeat_interleave(hidden)  # gates: input, forget, new, output
        weight_inputs, weight, bias_inputs, bias = lstm.all_weights[0]
        inputs = torch.addmm((bias_inputs + bias) * scale, embedded.flatten(0, 1), weight_inputs.T * scale)
        self.step = step
        self.weight = weight.T * scale / 2  # (H, 4H)
        self.inputs = inputs.view(length, rows, 4 * hidden)  # what the tokens add to the gates
        self.entering = torch.empty_like(self.inputs)  # what the states before them add
        self.cells = embedded.new_empty(length, rows, hidden)
        self.doubled = embedded.new_empty(length, rows, hidden)
        cell, doubled = embedded.new_zeros(2, rows, hidden)
        for position in range(length)[::step]:
            torch.mm(doubled, self.weight, out=self.entering[position])
            _advance(self.inputs[position] + self.entering[position], cell, doubled)
            outside = ~real[position, :, None]  # nothing is read yet where a text is entered from its end
            self.cells[position] = cell.masked_fill_(outside, 0.0)
            self.doubled[position] = doubled.masked_fill_(outside, 0.0)

    def chains(self, first: int, last: int) -> Iterator[Step]:
        """Delete each position of first..last - 1 in a chain of its own and follow the chains to the last token.

        A chain starts at the position next to the deleted one, with what entered that one: the first product is known.
        """
        length, rows, hidden = self.cells.shape
        size = last - first
        gates = self.inputs.new_empty(size, rows, 4 * hidden)
        cells, doubled = self.cells.new_empty(2, size, rows, hidden)
        for position in range(first + 1, length - 1) if self.step == 1 else range(last - 2, 0, -1):
            deleted = position - self.step
            starting = deleted - first  # the chain that starts here, if it is of this block
            low, high = (0, min(starting, size)) if self.step == 1 else (max(starting + 1, 0), size)
            if low < high:  # chains under way
                gates[low:high] = self.inputs[position]
                gates[low:high].flatten(0, 1).addmm_(doubled[low:high].flatten(0, 1), self.weight)
            if 0 <= starting < size:
                torch.add(self.inputs[position], self.entering[deleted], out=gates[starting])
                cells[starting] = self.cells[deleted - self.step]
                low, high = min(low, starting), max(high, starting + 1)
            _advance(gates[low:high], cells[low:high], doubled[low:high])
            yield Step(position, slice(low, high), doubled[low:high])


def _advance(gates: Tensor, cell: Tensor, doubled: Tensor) -> None:
    """One step: from gates (..., 4H) and cell (..., H) to the next cell and doubled state (..., H), in place."""
    enter, forget, new, leave = gates.tanh_().chunk(4, dim=-1)
    cell.addcmul_(forget, cell)
    new.addcmul_(enter, new)
    torch.lerp(cell, new, 0.5, out=cell)  # (1 + forget) / 2 * cell + (1 + enter) / 2 * new
    torch.tanh(cell, out=doubled)
    doubled.addcmul_(leave, doubled)
