"""What leave-one-out of recurrent encoders is made of: an LSTM read once, and attention on either side of a gap.

Every tanh is a sigmoid, tanh(x) = 2 sigmoid(2x) - 1: on AMD processors torch's sigmoid takes a tenth of the time of its
tanh. The form is the same on all: one chosen by measuring might round differently from run to run. With the weights of
the new-cell gate doubled, one call serves all four gates; cells are kept as -c, so that tanh(c) = 1 - 2 sigmoid(-2c).
Near zero this loses relative precision, not absolute: it is all added to numbers of the order of one.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from heedful.models.attentions import Additive, AdditiveToQuery, Attention, Dot, Query


class Direction(NamedTuple):
    """A one-way LSTM over texts that stand end to end in N places, once they have been read."""

    step: int  # 1 reads ahead, -1 back
    weight: Tensor  # (H, 4H)
    inputs: Tensor  # (V, 4H): what words add to the gates
    states: Tensor  # (N, H)
    row: Tensor  # (N,): where in the following the places are
    entering: Tensor  # (R, 4H): what the states before the tokens add to their gates
    cells: Tensor  # (R, H): -c


def read_both(
    lstms: Sequence[nn.LSTM], embedded: Tensor, word: Tensor, starts: Tensor, ends: Tensor
) -> list[Direction]:
    """Read texts ahead and back at the same time: different words embedded (V, E), which of them stands where (N,), and
    the sentinels of each text (B,), (B,). The sentinel that comes last is not read: nothing depends on its state."""
    hidden = lstms[0].hidden_size
    scale = embedded.new_tensor([1, 1, 2, 1]).repeat_interleave(hidden)  # gates: input, forget, new, output
    weights, inputs = embedded.new_empty(2, hidden, 4 * hidden), embedded.new_empty(2, len(embedded), 4 * hidden)
    for lstm, matrix, values in zip(lstms, weights, inputs, strict=True):
        weight_inputs, weight, bias_inputs, bias = lstm.all_weights[0]
        torch.mul(weight.T, scale, out=matrix)
        torch.addmm((bias_inputs + bias) * scale, embedded, weight_inputs.T * scale, out=values)
    steps, order = (ends - starts).sort(descending=True)
    starts, ends = starts[order], ends[order]
    counts = under_way(steps)
    places = torch.cat(
        [part for n, count in enumerate(counts) for part in (starts[:count] + n, ends[:count] - n)]
    )  # (R,)
    back = torch.cat([torch.arange(2 * count) >= count for count in counts])  # (R,): whether it is read back
    gates = inputs.flatten(0, 1).index_select(0, word[places] + len(embedded) * back)  # (R, 4H)
    entering = torch.empty_like(gates)
    cells, states = embedded.new_empty(2, len(gates), hidden)
    cell, state = embedded.new_zeros(2, 2, len(order), hidden)
    slabs = [values.split([2 * count for count in counts]) for values in (gates, entering, cells, states)]
    for count, *step in zip(counts, *slabs, strict=True):
        gate, enter, next_cell, next_state = (values.view(2, count, -1) for values in step)
        if count < cell.shape[1]:
            cell, state = cell[:, :count], state[:, :count]
        torch.bmm(state, weights, out=enter)
        gate.add_(enter).sigmoid_()
        advance(gate.chunk(4, dim=2), cell, next_cell, next_state)
        cell, state = next_cell, next_state
    found = []
    for which, ahead in enumerate((1, -1)):
        rows = (back == bool(which)).nonzero().squeeze(1)
        there = states.new_zeros(len(word), hidden).index_copy_(0, places[rows], states[rows])
        row = rows.new_zeros(len(word)).index_copy_(0, places[rows], rows)
        found.append(Direction(ahead, weights[which], inputs[which], there, row, entering, cells))
    return found


def under_way(steps: Tensor) -> list[int]:
    """How many of those that take so many steps (P,) take a first step, how many a second, and so on."""
    counts: list[int] = (len(steps) - steps.bincount().cumsum(0)).tolist()
    return counts[:-1]  # the last is of those that go further than the furthest


def advance(gates: Sequence[Tensor], cell: Tensor, next_cell: Tensor, state: Tensor) -> None:
    """One step: from the sigmoids of four gates, which are overwritten, and cells to the next cells and states."""
    enter, forget, new, leave = gates
    torch.addcmul(enter, enter, new, value=-2, out=new)  # -enter * tanh
    torch.addcmul(new, cell, forget, out=next_cell)
    torch.add(next_cell, next_cell, out=state)
    state.sigmoid_()
    torch.addcmul(leave, leave, state, value=-2, out=state)


def weights_of(scores: Tensor, dim: int) -> Tensor:
    """The softmax of attention scores over `dim`; all zero where every score is minus infinity: nothing is attended."""
    top = scores.amax(dim, keepdim=True).clamp_min_(torch.finfo(scores.dtype).min)
    weights = (scores - top).exp_()
    return weights.div_(weights.sum(dim, keepdim=True).clamp_min_(1.0))  # the top itself weighs 1 unless all are zero


class Side(NamedTuple):
    """Attention to one side of each of M gaps, before it is divided by its total."""

    top: Tensor  # (M,) the largest score, the least finite number where there is none
    total: Tensor  # (M,) of the weights exp(score - top)
    sums: Tensor  # (M, D) of what is attended to, times its weights

    @classmethod
    def nothing(cls, like: Tensor, size: int, gaps: int) -> "Side":
        """No attention yet, beside so many gaps."""
        least = torch.finfo(like.dtype).min
        return cls(like.new_full((gaps,), least), like.new_zeros(gaps), like.new_zeros(gaps, size))

    def take(self, gaps: Tensor | slice) -> "Side":
        """Some of the gaps."""
        return Side(*(values[gaps] for values in self))

    def put(self, gaps: Tensor, side: "Side") -> None:
        """Set those of some gaps."""
        for values, others in zip(self, side, strict=True):
            values[gaps] = others

    def joined(self, other: "Side") -> "Side":
        """Attention to both sides."""
        top = torch.maximum(self.top, other.top)
        first, second = (self.top - top).exp_(), (other.top - top).exp_()
        sums = first[:, None] * self.sums + second[:, None] * other.sums
        return Side(top, first * self.total + second * other.total, sums)

    def mean(self) -> Tensor:
        """The attended mean (M, D); zero where there is nothing to attend to."""
        return self.sums / self.total.clamp_min(1.0)[:, None]  # the top itself weighs 1 unless there is nothing


class Readout(NamedTuple):
    """Attention scores from features, features linear in the state: what its parts add to them may be added up."""

    matrix: Tensor  # (H, F)
    bias: Tensor  # (N, F): in each place, whose text may have a query
    curve: bool  # whether features pass through a sigmoid before they are scored
    scores: Callable[[Tensor, Tensor, Tensor], Any]  # of features (A, F) in places (A,), up to a constant, to (A,)

    def curved(self, features: Tensor) -> Tensor:
        """Features to be scored; those given are overwritten."""
        return features.sigmoid_() if self.curve else features


def readout(attention: Attention, size: int, query: Query, text: Tensor) -> Readout:
    """The readout of an attention over states of `size` H in places that belong to texts (N,). Where nothing is known
    of the attention, the state is its features."""
    if type(attention) is Additive:
        return _additive(attention.hidden, attention.score, attention.hidden.bias.expand(len(text), -1))
    if type(attention) is AdditiveToQuery:
        bias = attention.hidden.bias + attention.query(query.vector)
        return _additive(attention.hidden, attention.score, bias.index_select(0, text))
    dtype = next(attention.parameters(), torch.empty(0) if query.vector is None else query.vector).dtype
    if type(attention) is Dot:
        matrix = attention.score.weight.T / attention.scale
        return Readout(
            matrix, torch.zeros(len(text), 1, dtype=dtype), False, lambda features, _, out: out.copy_(features[:, 0])
        )

    def scores(features: Tensor, places: Tensor, out: Tensor) -> None:
        out.copy_(attention.scores(features[:, None], query.take(text.index_select(0, places)))[:, 0])

    return Readout(torch.eye(size, dtype=dtype), torch.zeros(len(text), size, dtype=dtype), False, scores)


def _additive(hidden: nn.Linear, score: nn.Linear, bias: Tensor) -> Readout:
    weights = 2 * score.weight[0]  # v . tanh(x) = 2 v . sigmoid(2 x) and a constant, which a softmax does not see
    return Readout(2 * hidden.weight.T, 2 * bias, True, lambda features, _, out: torch.mv(features, weights, out=out))
