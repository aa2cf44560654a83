"""Leave-one-out of a BiLSTM: each deletion goes on from the states already known on either side of the gap.

Without token p the forward states before p and the backward states after p are as they were. The others come from two
chains: forward from the state before p over the tokens after it, backward from the state after p over those before it.
The chains of many deletions, in whatever texts, take their first steps together, then their second, and so on: each is
at a place of its own, and one matrix product a step gives the next gates of all and what attention sees of their
states. Those that go furthest come first, so that the chains under way are always the first rows of a block. Texts
stand end to end, without padding.

At every token one half of the state has changed, and attention is recomputed in that half only. It is summed up on
either side of the gap by itself; the two sides are put together at the end.
"""

from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding, embedding_bag

from heedful.importance.fast.deletions import Direction, Readout, Side, advance, readout, under_way, weights_of
from heedful.importance.measure import Deletions
from heedful.models.batches import Inputs, with_sentinels
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import BiLSTM

BLOCK_CELLS = 1 << 18  # of gates and features at a time: they stay in a cache
STEPS = 8  # attended to at a time
ENDING = 1 / 32  # of the chains of a step


def bilstm_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Read each text once, then run the chains of all tokens, first those behind the gaps, then those before them."""
    encoder, decoder, tokens, query = cast(BiLSTM, model.encoder), model.decoder, inputs.tokens, model.query(inputs)
    framed = with_sentinels(tokens)  # N places, for M tokens
    starts, ends = torch.from_numpy(framed.offsets[:-1]), torch.from_numpy(framed.offsets[1:] - 1)  # (B,) sentinels
    row, text = torch.from_numpy(tokens.row_of_value), torch.from_numpy(framed.row_of_value)  # (M,), (N,)
    places = torch.arange(len(row)) + 2 * row + 1  # (M,) where the tokens stand between sentinels
    words, word = torch.from_numpy(framed.values).unique(return_inverse=True)
    embedded = embedding(words, model.embedding)  # (V, E)
    ahead = Direction(encoder.ahead, embedded, word, starts, ends, step=1)
    back = Direction(encoder.back, embedded, word, ends, starts, step=-1)
    read = readout(model.attention, encoder.size, query, text)
    first, second = read.matrix.chunk(2)
    seen_ahead, seen_back = torch.addmm(read.bias, ahead.states, first), back.states @ second  # (N, F): of each half

    scores = read.scores(read.curved((seen_ahead + seen_back)[places]), places)  # (M,)
    weights = weights_of(torch.from_numpy(tokens.like(scores.numpy()).pad(-np.inf)[0]), -1)  # (B, T)
    states = tokens.like(torch.cat([ahead.states, back.states], dim=1)[places].numpy())
    attended = (weights[:, None] @ torch.from_numpy(states.pad()[0])).squeeze(1)  # (B, H)
    after = _Half(ahead, first, read, seen_back + read.bias, back.states).side(places, ends[row] - places - 1)
    before = _Half(back, second, read, seen_ahead, ahead.states).side(places, places - starts[row] - 1)
    before = before._replace(states=torch.cat(before.states.chunk(2, dim=1)[::-1], dim=1))
    without = decoder(before.joined(after).attended(), query.take(row))
    return Deletions(output_of(decoder(attended, query)).numpy(), tokens.like(output_of(without).numpy()))


class _Half:
    """One direction of deletions, and what attention makes of its half of the states."""

    def __init__(self, direction: Direction, matrix: Tensor, read: Readout, features: Tensor, others: Tensor) -> None:
        """A state adds to features by `matrix` (H, F). The other half's states `others` (N, H), and what they and the
        bias add, `features` (N, F), do not change."""
        self.direction, self.read, self.features, self.others = direction, read, features, others
        self.gates = direction.weight.shape[1]  # 4H
        self.matrix = torch.cat([direction.weight, matrix], dim=1)  # (H, 4H + F)
        self.kept = torch.cat([direction.following, features], dim=1)  # (N, 4H + F)

    def side(self, deleted: Tensor, steps: Tensor) -> Side:
        """Delete each of the places (M,) and attend to the next so many tokens (M,) in this direction: to states of
        this half and, beside them, of the other."""
        side = Side.nothing(self.others, 2 * self.others.shape[1], len(deleted))
        steps, order = steps.sort(descending=True)
        order = order[: steps.count_nonzero()]
        size = max(1, BLOCK_CELLS // self.matrix.shape[1])
        for first in range(0, len(order), size):
            block = order[first : first + size]
            side.put(block, self._follow(deleted[block], steps[first : first + len(block)]))
        return side

    def _follow(self, deleted: Tensor, left: Tensor) -> Side:
        """Follow the chains of some deletions (P,) for so many steps (P,), the most first."""
        direction, counts = self.direction, [*under_way(left), 0]
        seen = self.kept.index_select(0, deleted)  # (P, 4H + F)
        # A chain starts next to the deleted place with what entered that one: the first product is known.
        seen[:, : self.gates].add_(direction.entering.index_select(0, deleted)).sigmoid_()
        cells = direction.cells.index_select(0, deleted - direction.step)  # (P, H)
        attending = _Attending(cells)
        for done in range(0, len(counts) - 1, STEPS):
            active = counts[done : done + STEPS + 1]
            steps = torch.arange(done + 1, done + len(active)) * direction.step  # (S,)
            states, scores = attending.room(len(steps), active[0])
            self._walk(seen[: active[0]], cells[: active[0]], states, deleted[: active[0]] + steps[:, None], active, scores)
            places = (deleted[: active[0], None] + steps).clamp_(0, len(self.others) - 1)  # (A, S)
            attending.add(scores, places, self.others)
        return attending.side()

    def _walk(self, seen, cells, states, places, active, scores) -> None:
        """Some steps of chains, from their gates, `seen` (A, 4H + F), and cells (A, H), which are overwritten: their
        scores (S, A) in places (S, A), with their states (S, A, H). So many are `active`, step by step, and after."""
        parts = seen[:, : self.gates].chunk(4, dim=1)
        for place, state, score, now, on in zip(places, states, scores, active, active[1:], strict=False):
            if now < len(seen):
                seen, cells = seen[:now], cells[:now]
                parts = seen[:, : self.gates].chunk(4, dim=1)
            if now < len(state):
                place, state, score = place[:now], state[:now], score[:now]
            advance(parts, cells, cells, state)
            if on >= (1 - ENDING) * now:
                score.copy_(self._look(place, state, seen))
            else:
                if on:
                    score[:on] = self._look(place[:on], state[:on], seen[:on])
                ended = self.features.index_select(0, place[on:]).addmm_(state[on:], self.matrix[:, self.gates :])
                score[on:] = self.read.scores(self.read.curved(ended), place[on:])

    def _look(self, places: Tensor, states: Tensor, seen: Tensor) -> Tensor:
        """Scores (A,) of states (A, H), and the gates of the next step."""
        torch.index_select(self.kept, 0, places, out=seen)
        seen.addmm_(states, self.matrix)
        (seen if self.read.curve else seen[:, : self.gates]).sigmoid_()
        return self.read.scores(seen[:, self.gates :], places)


class _Attending:
    def __init__(self, like: Tensor) -> None:
        chains, size = like.shape
        self.top = like.new_full((chains,), torch.finfo(like.dtype).min)
        self.total = like.new_zeros(chains)
        self.own, self.others = like.new_zeros(2, chains, size)
        self.memory = like.new_zeros(STEPS, chains, size)
        self.scores = like.new_empty(STEPS, chains)
        self.cells = torch.arange(chains)[:, None] + chains * torch.arange(STEPS)  # (P, S)

    def room(self, steps: int, active: int):
        return self.memory[:steps, :active], self.scores[:steps, :active].fill_(-torch.inf)

    def add(self, scores: Tensor, places: Tensor, others: Tensor) -> None:
        count, steps = places.shape
        top = torch.maximum(self.top[:count], scores.amax(0))
        shrunk = (self.top[:count] - top).exp_()
        weights = (scores - top).exp_().T.contiguous()
        self.total[:count].mul_(shrunk).add_(weights.sum(1))
        self.top[:count] = top
        for sums, cells, table in ((self.own, self.cells[:count, :steps], self.memory.flatten(0, 1)), (self.others, places, others)):
            sums[:count].mul_(shrunk[:, None]).add_(embedding_bag(cells, table, per_sample_weights=weights, mode="sum"))

    def side(self) -> Side:
        return Side(self.top, self.total, torch.cat([self.own, self.others], dim=1))
