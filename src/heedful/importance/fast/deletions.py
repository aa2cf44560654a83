"""One direction of a BiLSTM with tokens deleted, in chains that start behind the gap.

What the tokens add to the gates is the same in every chain and computed once. The chains of many deletions, in whatever
texts, take their first steps together, then their second, and so on: each is at a place of its own, and one matrix
product a step serves all. Texts stand end to end, without padding. The chains that go furthest come first, so that
those still under way are always the first rows of a block.

Two changes of scale save passes over memory. A sigmoid is a tanh, (1 + tanh(x / 2)) / 2: with the weights of the three
sigmoid gates halved, one call serves all four gates. And states are kept doubled, 2h = (1 + o) tanh(c) with o the tanh
of the output gate: whatever multiplies them is halved.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from heedful.models.attentions import Additive, AdditiveToQuery, Attention, Dot, Query


class Direction:
    """A one-way LSTM over texts that stand end to end in N places: step 1 reads ahead, -1 back."""

    def __init__(self, lstm: nn.LSTM, embedded: Tensor, starts: Tensor, ends: Tensor, *, step: int) -> None:
        """Read the whole texts: embedded tokens (N, E), and where each text is entered (B,) and left (B,). The token at
        which a text is left is a sentinel, and not read: nothing depends on its state."""
        hidden = lstm.hidden_size
        scale = torch.tensor([0.5, 0.5, 1.0, 0.5]).repeat_interleave(hidden)  # gates: input, forget, new, output
        weight_inputs, weight, bias_inputs, bias = lstm.all_weights[0]
        self.step = step
        self.weight = (weight.T * scale / 2).contiguous()  # (H, 4H); products with a transposed view are slower
        self.inputs = torch.addmm((bias_inputs + bias) * scale, embedded, weight_inputs.T * scale)  # (N, 4H)
        self.entering = torch.zeros_like(self.inputs)  # what the states before the tokens add to the gates
        self.cells = embedded.new_zeros(len(embedded), hidden)
        self.doubled = torch.zeros_like(self.cells)
        steps, order = (ends - starts).abs().sort(descending=True)
        places = starts[order]
        cells, doubled = embedded.new_zeros(2, len(places), hidden)
        for active in _under_way(steps):
            places, cells, doubled = places[:active], cells[:active], doubled[:active]
            entering = doubled @ self.weight
            gates = (self.inputs[places] + entering).tanh_()
            advance(gates.chunk(4, dim=-1), cells, doubled)
            self.entering[places], self.cells[places], self.doubled[places] = entering, cells, doubled
            places += step

    def chains(self, deleted: Tensor, steps: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Delete each of some places (P,) in a chain of its own and follow it for so many steps (P,), the most first.

        Gives step by step the places (A,) that the chains under way have come to and their doubled states there (A, H),
        which the next step overwrites. A chain starts next to the deleted place with what entered that one: the first
        product is known.
        """
        places = deleted + self.step
        gates = self.inputs[places] + self.entering[deleted]
        cells = self.cells[deleted - self.step]
        doubled = torch.empty_like(cells)
        parts = gates.chunk(4, dim=-1)  # views are made when they change: thousands of steps would pay for them
        for number, active in enumerate(_under_way(steps)):
            if active < len(places):
                places, gates, cells, doubled = places[:active], gates[:active], cells[:active], doubled[:active]
                parts = gates.chunk(4, dim=-1)
            if number > 0:
                places += self.step
                torch.index_select(self.inputs, 0, places, out=gates)
                gates.addmm_(doubled, self.weight)
            gates.tanh_()
            advance(parts, cells, doubled)
            yield places, doubled


def _under_way(steps: Tensor) -> list[int]:
    """How many chains take a first step, how many a second, and so on."""
    counts: list[int] = (len(steps) - steps.bincount().cumsum(0)).tolist()
    return counts[:-1]  # the last is of those that go further than the furthest


def advance(gates: tuple[Tensor, ...], cell: Tensor, doubled: Tensor) -> None:
    """One step: from the tanh of four gates and the cell, all alike, to the next cell and doubled state, in place."""
    enter, forget, new, leave = gates
    cell.addcmul_(forget, cell)
    new.addcmul_(enter, new)
    torch.lerp(cell, new, 0.5, out=cell)  # (1 + forget) / 2 * cell + (1 + enter) / 2 * new
    torch.tanh(cell, out=doubled)
    doubled.addcmul_(leave, doubled)


def weights_of(scores: Tensor, dim: int) -> Tensor:
    """The softmax of attention scores over `dim`; all zero where every score is minus infinity: nothing is attended."""
    top = scores.amax(dim, keepdim=True).clamp_min_(torch.finfo(scores.dtype).min)
    weights = (scores - top).exp_()
    return weights.div_(weights.sum(dim, keepdim=True).clamp_min_(1.0))  # the top itself weighs 1 unless all are zero


class Side(NamedTuple):
    """Attention to one side of each of M gaps, before it is divided by its total."""

    top: Tensor  # (M,) the largest score, the least finite number where there is none
    total: Tensor  # (M,) of the weights exp(score - top)
    items: Tensor  # (D, M) the weighted sum of the decoder's items

    @classmethod
    def nothing(cls, like: Tensor, items: int, size: int) -> "Side":
        """No attention yet, beside so many gaps."""
        least = torch.finfo(like.dtype).min
        return cls(like.new_full((size,), least), like.new_zeros(size), like.new_zeros(items, size))


def joined(before: Side, after: Side) -> Tensor:
    """The decoder's items (M, D) under attention to both sides; zero where there is nothing on either."""
    top = torch.maximum(before.top, after.top)
    first, second = (before.top - top).exp_(), (after.top - top).exp_()
    total = first * before.total + second * after.total
    items = first * before.items + second * after.items
    return (items / total.clamp_min_(1.0)).T.contiguous()  # the top itself weighs 1 unless there is nothing


class Readout(NamedTuple):
    """Attention scores from features, features linear in the state: what its parts add to them may be added up."""

    matrix: Tensor  # (F, H)
    bias: Tensor  # (F, B): of each text, which may have a query
    bent: bool  # features pass through a tanh before they are scored
    scores: Callable[[Tensor, Tensor], Tensor]  # of features (S, F, A), the last of texts (A,): (S, A)


def readout(attention: Attention, size: int, query: Query, texts: int) -> Readout:
    """The readout of an attention over states of `size` H in so many texts B. Where nothing is known of the attention,
    the state is its features."""
    if type(attention) is Additive:
        return _additive(attention.hidden, attention.score, attention.hidden.bias.expand(texts, -1))
    if type(attention) is AdditiveToQuery:
        return _additive(attention.hidden, attention.score, attention.hidden.bias + attention.query(query.vector))
    dtype = next(attention.parameters(), torch.empty(0) if query.vector is None else query.vector).dtype
    if type(attention) is Dot:
        matrix = attention.score.weight / attention.scale
        return Readout(matrix, torch.zeros(1, texts, dtype=dtype), False, lambda features, texts: features[:, 0])

    def scores(features: Tensor, texts: Tensor) -> Tensor:
        return attention.scores(features.permute(2, 0, 1), query.take(texts)).T

    return Readout(torch.eye(size, dtype=dtype), torch.zeros(size, texts, dtype=dtype), False, scores)


def _additive(hidden: nn.Linear, score: nn.Linear, bias: Tensor) -> Readout:
    weights = score.weight[0]
    return Readout(hidden.weight, bias.T, True, lambda features, texts: weights @ features)
