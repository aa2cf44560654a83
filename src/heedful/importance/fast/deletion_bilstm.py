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
from torch.nn.functional import embedding

from heedful.importance.fast.deletions import Direction, Readout, Side, advance, readout, under_way, weights_of
from heedful.importance.measure import Deletions
from heedful.models.batches import Inputs, with_sentinels
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import BiLSTM

BLOCK_CELLS = 160 << 10  # of gates and features at a time: they stay in a cache
STEPS = 8  # attended to at a time
ENDED = 1 / 32  # of the chains of some steps, the share that may have ended on the way


def bilstm_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Read each text once, then run the chains of all tokens, first those behind the gaps, then those before them."""
    encoder, decoder, tokens, query = cast(BiLSTM, model.encoder), model.decoder, inputs.tokens, model.query(inputs)
    framed = with_sentinels(tokens)  # N places, for M tokens
    starts, ends = torch.from_numpy(framed.offsets[:-1]), torch.from_numpy(framed.offsets[1:] - 1)  # (B,) sentinels
    row, text = torch.from_numpy(tokens.row_of_value), torch.from_numpy(framed.row_of_value)  # (M,), (N,)
    places = torch.arange(len(row)) + 2 * row + 1  # (M,) where the tokens stand between sentinels
    words, word = torch.from_numpy(framed.values).unique(return_inverse=True)
    embedded = embedding(words, model.embedding)  # (V, E)
    read = readout(model.attention, encoder.size, query, text)
    decode = decoder.items(torch.eye(encoder.size, dtype=embedded.dtype))  # (H, D)
    ahead = Direction(encoder.ahead, embedded, word, starts, ends, step=1)
    back = Direction(encoder.back, embedded, word, ends, starts, step=-1)
    halves = list(zip((ahead, back), read.matrix.chunk(2), decode.chunk(2), strict=True))
    features = [direction.states @ matrix for direction, matrix, _ in halves]  # (N, F) each
    items = [direction.states @ matrix for direction, _, matrix in halves]  # (N, D) each

    scores = read.scores(_curved(read, sum(features, read.bias)[places]), places)  # (M,)
    weights = weights_of(torch.from_numpy(tokens.like(scores.numpy()).pad(-np.inf)[0]), -1)  # (B, T)
    padded = torch.from_numpy(tokens.like(sum(items)[places].numpy()).pad()[0])  # (B, T, D)
    whole = decoder.logits((weights[:, None] @ padded).squeeze(1), query)
    after = _Half(*halves[0], read, features[1], items[1]).side(places, ends[row] - places - 1)
    before = _Half(*halves[1], read, features[0], items[0]).side(places, places - starts[row] - 1)
    without = decoder.logits(before.joined(after).mixed(), query.take(row))
    return Deletions(output_of(whole).numpy(), tokens.like(output_of(without).numpy()))


def _curved(read: Readout, features: Tensor) -> Tensor:
    return features.sigmoid_() if read.curved else features


class _Half:
    """One direction of deletions, and what attention and decoder make of its half of the states."""

    def __init__(
        self, direction: Direction, matrix: Tensor, decode: Tensor, read: Readout, features: Tensor, items: Tensor
    ) -> None:
        """A state adds to features by `matrix` (H, F) and to items by `decode` (H, D). The other half's states add
        `features` (N, F) and `items` (N, D), which do not change."""
        self.direction, self.read, self.items, self.decode = direction, read, items, decode
        self.gates = direction.weight.shape[1]
        self.matrix = torch.cat([direction.weight, matrix], dim=1)  # (H, 4H + F)
        self.kept = torch.cat([direction.following, features + read.bias], dim=1)  # (N, 4H + F)

    def side(self, deleted: Tensor, steps: Tensor) -> Side:
        """Delete each of the places (M,) and attend to the next so many tokens (M,) in this direction."""
        side = Side.nothing(self.kept, self.items.shape[1], len(deleted))
        steps, order = steps.sort(descending=True)
        order = order[: steps.count_nonzero()]
        size = max(1, BLOCK_CELLS // self.matrix.shape[1])
        for first in range(0, len(order), size):
            block = order[first : first + size]
            found = self._follow(deleted[block], under_way(steps[first : first + size]), steps[first : first + size])
            for values, of_block in zip(side, found, strict=True):
                values[block] = of_block
        return side

    def _follow(self, deleted: Tensor, counts: list[int], left: Tensor) -> Side:
        """Follow the chains of some deletions (P,), the longest first: so many take a first step, a second, ..."""
        direction = self.direction
        seen = self.kept.index_select(0, deleted)  # (P, 4H + F)
        # A chain starts next to the deleted place with what entered that one: the first product is known.
        gates = seen[:, : self.gates].add_(direction.entering.index_select(0, deleted)).sigmoid_()
        cells = direction.cells.index_select(0, deleted - direction.step)
        memory = cells.new_empty(STEPS * cells.numel())
        sums = Side.nothing(cells, cells.shape[1], len(deleted))  # of states
        items = self.items.new_zeros(len(deleted), self.items.shape[1])
        counts = [*counts, 0]
        done = 0
        while active := counts[done]:
            last = done
            while last + 1 - done < STEPS and counts[last + 1] >= active * (1 - ENDED) and counts[last + 1]:
                last += 1
            steps = torch.arange(done + 1, last + 2)[:, None]  # (S, 1)
            places = (deleted[:active] + steps * direction.step).clamp_(0, len(self.kept) - 1)  # (S, A)
            states = memory[: len(places) * active * cells.shape[1]].view(len(places), active, -1)  # (S, A, H)
            parts = seen[:active, : self.gates].chunk(4, dim=1)
            cells = cells[:active]
            scores = []
            for place, state in zip(places, states, strict=True):
                advance(parts, cells, cells, state)
                scores.append(self._look(place, state, seen[:active]))
            scored = torch.stack(scores)
            if counts[last] < active:
                scored.masked_fill_(steps > left[:active], -torch.inf)
            self._attend(Side(*(v[:active] for v in sums)), items[:active], scored, states, places)
            done = last + 1
        return sums._replace(items=sums.items @ self.decode + items)

    def _look(self, places: Tensor, states: Tensor, seen: Tensor) -> Tensor:
        torch.index_select(self.kept, 0, places, out=seen)
        seen.addmm_(states, self.matrix)
        (seen if self.read.curved else seen[:, : self.gates]).sigmoid_()
        return self.read.scores(seen[:, self.gates :], places)

    def _attend(self, sums: Side, items, scores, states, places) -> None:
        higher = torch.maximum(sums.top, scores.amax(0))
        shrunk = (sums.top - higher).exp_()
        weights = (scores - higher).exp_()
        sums.total.mul_(shrunk).add_(weights.sum(0))
        sums.items.mul_(shrunk[:, None]).add_(states.mul_(weights[..., None]).sum(0))
        kept = self.items.index_select(0, places.flatten()).view(*places.shape, -1)
        items.mul_(shrunk[:, None]).add_(kept.mul_(weights[..., None]).sum(0))
        sums.top.copy_(higher)
