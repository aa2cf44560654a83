"""One direction of a BiLSTM with tokens deleted, in chains that start behind the gap.

The texts of a batch stand side by side, place by place: column t * B + b is place t of text b, the sentinels are places
like any other. A chain that deletes a column reads the columns B, 2 B, 3 B further on, so the chains of neighbouring
columns read neighbouring columns: nothing has to be gathered, and one matrix product a step serves all chains of a
block. The chains that have come to the end of the texts are always the last ones; they drop out now and then.

What the tokens add to the gates is the same in every chain, and computed once. Two changes of scale save passes over
memory. A sigmoid is a tanh, (1 + tanh(x / 2)) / 2: with the weights of the three sigmoid gates halved, one call serves
all four gates. And states are kept doubled, 2h = (1 + o) tanh(c) with o the tanh of the output gate: whatever
multiplies them is halved.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from heedful.importance.chains import advance

STEPS = 8  # given at a time: their states stay in a cache


class Direction:
    """A one-way LSTM over a batch of texts that stand side by side."""

    def __init__(self, lstm: nn.LSTM, embedded: Tensor, states: Tensor, real: Tensor, *, texts: int) -> None:
        """From what was read: embedded tokens (C, E) and the LSTM's states (C, H), where columns (C,) are real."""
        hidden = lstm.hidden_size
        scale = torch.tensor([0.5, 0.5, 1.0, 0.5], dtype=embedded.dtype).repeat_interleave(hidden)[:, None]
        weight_inputs, weight, bias_inputs, bias = lstm.all_weights[0]  # gates: input, forget, new, output
        self.texts = texts
        self.weight = weight * scale / 2  # (4H, H), of doubled states
        inputs = torch.addmm((bias_inputs + bias)[:, None] * scale, weight_inputs * scale, embedded.T)  # (4H, C)
        self.inputs = pad(inputs, (0, (STEPS + 1) * texts))  # chains that have ended read on for a while
        self.doubled = 2 * (states * real[:, None]).T  # (H, C)
        # what the states before the columns add to their gates
        self.entering = self.weight @ pad(self.doubled[:, :-texts], (texts, 0))  # (4H, C)
        enter, forget, new, _ = (inputs + self.entering).tanh_().chunk(4)
        self.cells = (1 + enter) * new * (real / 2)  # what enters the cells; in the end, the cells themselves (H, C)
        kept = (1 + forget) / 2
        for column in range(texts, self.cells.shape[1], texts):
            now = slice(column, column + texts)
            self.cells[:, now].addcmul_(kept[:, now], self.cells[:, column - texts : column])

    def chains(self, first: int, last: int, end: int) -> Iterator[tuple[int, Tensor]]:
        """Delete the columns from `first` to `last` in a chain each, and follow the chains up to column `end`.

        Gives the doubled states, some steps at a time: the column that the first chain came to first, and (S, H, A),
        which is overwritten then. Chains that have come to the end drop out between; what they give means nothing.
        """
        texts = self.texts
        gates = (self.inputs[:, first + texts : last + texts] + self.entering[:, first:last]).tanh_()
        cells = self.cells[:, first - texts : last - texts].clone()
        memory = cells.new_empty(STEPS * cells.numel())
        for start in range(first + texts, end, STEPS * texts):
            width = min(last - first, end - start)
            gates, cells = gates[:, :width].contiguous(), cells[:, :width].contiguous()
            taken = memory[: STEPS * cells.numel()].view(STEPS, -1, width)
            parts = gates.chunk(4)
            columns = range(start, min(start + STEPS * texts, end), texts)
            for column, doubled in zip(columns, taken, strict=False):
                advance(parts, cells, doubled)
                torch.addmm(self.inputs[:, column + texts : column + texts + width], self.weight, doubled, out=gates)
                gates.tanh_()
            yield start, taken[: len(columns)]
