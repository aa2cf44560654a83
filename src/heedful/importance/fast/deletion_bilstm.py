"""Leave-one-out of a BiLSTM: each deletion goes on from the states already known on either side of the gap.

Without token p the forward states before p and the backward states after p are as they were. The others come from two
chains: forward from the state before p over the tokens after it, backward from the state after p over those before it.
At every token one half of the state has changed, and attention is recomputed in that half only. It is summed up on
either side of the gap by itself; the two sides are put together at the end.

The chains of many deletions, in whatever texts, take their first steps together, then their second, and so on: each is
at a place of its own, and one matrix product a step gives the next gates of all and what attention sees of their
states. Those that go furthest come first, so that the chains under way are always the first rows of a block. Texts
stand end to end, without padding.
"""

from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding, embedding_bag

from heedful.importance.fast.deletions import (
    Direction,
    Readout,
    Side,
    advance,
    read_both,
    readout,
    under_way,
    weights_of,
)
from heedful.importance.measure import Deletions
from heedful.models.batches import Inputs, with_sentinels
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import BiLSTM
from heedful.ragged import Ragged

BLOCK_CELLS = 1 << 19  # of gates and features at a time: they stay in a cache
STEPS = 16  # attended to at a time; after them chains may stop
ENDED = 1 / 32  # of the chains of a step, the share that may have ended: to leave them out takes longer


def bilstm_deletions(model: Classifier, inputs: Inputs, *, tolerance: float = 0.0) -> Deletions:
    """Read each text once, then run the chains of all tokens, first those behind the gaps, then those before them.

    With a tolerance, chains whose states and cells have come that close to those of the whole text stop."""
    encoder, decoder, tokens, query = cast(BiLSTM, model.encoder), model.decoder, inputs.tokens, model.query(inputs)
    framed = with_sentinels(tokens)  # N places, for M tokens
    starts, ends = torch.from_numpy(framed.offsets[:-1]), torch.from_numpy(framed.offsets[1:] - 1)  # (B,) sentinels
    row, text = torch.from_numpy(tokens.row_of_value), torch.from_numpy(framed.row_of_value)  # (M,), (N,)
    places = torch.arange(len(row)) + 2 * row + 1  # (M,) where the tokens stand between sentinels
    words, word = map(torch.from_numpy, np.unique(framed.values, return_inverse=True))
    embedded = embedding(words, model.embedding)  # (V, E)
    ahead, back = read_both([encoder.ahead, encoder.back], embedded, word, starts, ends)
    read = readout(model.attention, encoder.size, query, text)
    seen = [one.states @ matrix for one, matrix in zip((ahead, back), read.matrix.chunk(2), strict=True)]  # (N, F)
    scores = embedded.new_empty(len(places))  # (M,)
    read.scores(read.curved((seen[0] + seen[1] + read.bias)[places]), places, scores)
    after, before = _Half(ahead, back, read, seen[1], word), _Half(back, ahead, read, seen[0], word)
    if tolerance:
        for half in (after, before):
            states = torch.cat([half.direction.states, half.others], dim=1)[places]
            half.may_stop(tolerance, places, _beyond(tokens, scores, states, ahead=half is after))
    decode = decoder.items(torch.eye(encoder.size, dtype=embedded.dtype))  # (H, D)
    first, second = decode.chunk(2)
    items = (ahead.states @ first + back.states @ second)[places]  # (M, D)
    weights = weights_of(torch.from_numpy(tokens.like(scores.numpy()).pad(-np.inf)[0]), -1)  # (B, T)
    whole = (weights[:, None] @ torch.from_numpy(tokens.like(items.numpy()).pad()[0])).squeeze(1)  # (B, D)
    behind = after.side(places, ends[row] - places - 1, decode)
    ahead_of = before.side(places, places - starts[row] - 1, torch.cat([second, first]))
    without = decoder.logits(ahead_of.joined(behind).mean(), query.take(row))
    return Deletions(output_of(decoder.logits(whole, query)).numpy(), tokens.like(output_of(without).numpy()))


def _beyond(tokens: Ragged, scores: Tensor, states: Tensor, *, ahead: bool) -> Side:
    """Attention of whole texts, by scores (M,) of states (M, H), to all that comes after each token, or before it: sums
    in double precision, of which none is the difference of others."""
    padded, mask = tokens.like(scores.double().numpy()).pad(-np.inf)  # (B, T)
    order = slice(None, None, -1 if ahead else 1)
    highest = padded.max(axis=1, keepdims=True)
    weights = np.exp(padded - highest)

    def beyond(values: np.ndarray) -> np.ndarray:
        sums = np.cumsum(values[:, order], axis=1)
        return np.concatenate([np.zeros_like(sums[:, :1]), sums[:, :-1]], axis=1)[:, order]

    total = beyond(weights)[mask]  # (M,)
    some = total > 0
    means = beyond(weights[..., None] * tokens.like(states.numpy()).pad()[0])[mask] / np.where(some, total, 1)[:, None]
    with np.errstate(divide="ignore"):
        top = np.where(some, np.broadcast_to(highest, mask.shape)[mask] + np.log(total), torch.finfo(scores.dtype).min)
    return Side(*(torch.from_numpy(values).to(scores.dtype) for values in (top, some, means)))


class _Half:
    """One direction of deletions, and what attention makes of its half of the states."""

    def __init__(self, direction: Direction, other: Direction, read: Readout, features: Tensor, word: Tensor) -> None:
        """The other direction's states, and what they add to the features (N, F), do not change."""
        self.direction, self.others, self.read = direction, other.states, read
        self.gates = direction.weight.shape[1]  # 4H
        matrix = read.matrix.chunk(2)[direction.step < 0]
        self.matrix = torch.cat([direction.weight, matrix], dim=1)  # (H, 4H + F)
        self.features = features + read.bias
        self.kept = features.new_empty(len(features), self.matrix.shape[1])  # (N, 4H + F): what does not change
        torch.index_select(direction.inputs, 0, word.roll(-direction.step), out=self.kept[:, : self.gates])
        self.kept[:, self.gates :] = self.features
        self.tolerance = 0.0

    def may_stop(self, tolerance: float, places: Tensor, beyond: Side) -> None:
        """Let chains stop, with the whole text's attention to all that comes after the places (M,) where they do."""
        self.tolerance = tolerance
        self.beyond = Side.nothing(self.others, 2 * self.others.shape[1], len(self.others))
        self.beyond.put(places, beyond)

    def side(self, deleted: Tensor, steps: Tensor, decode: Tensor) -> Side:
        """Delete each of the places (M,) and attend to the next so many tokens (M,) in this direction: to the decoder's
        items (M, D), made by `decode` (2H, D) of states of this half and, beside them, of the other."""
        side = Side.nothing(decode, decode.shape[1], len(deleted))
        steps, order = steps.sort(descending=True)
        order = order[: steps.count_nonzero()]
        size = max(1, BLOCK_CELLS // self.matrix.shape[1])
        memory = self.others.new_zeros(STEPS * min(size, len(order)) * self.others.shape[1])
        for first in range(0, len(order), size):
            block = order[first : first + size]
            found = self._follow(deleted[block], steps[first : first + len(block)], memory)
            side.put(block, found._replace(sums=found.sums @ decode))
        return side

    def _follow(self, deleted: Tensor, left: Tensor, memory: Tensor) -> Side:
        """Follow the chains of some deletions (P,) for so many steps (P,), the most first. Their states are written to
        memory, which holds finite numbers."""
        direction, counts = self.direction, [*under_way(left), 0]
        seen = self.kept.index_select(0, deleted)  # (P, 4H + F)
        # A chain starts next to the deleted place with what entered that one: the first product is known.
        seen[:, : self.gates].add_(direction.entering.index_select(0, direction.row[deleted])).sigmoid_()
        cells = direction.cells.index_select(0, direction.row[deleted - direction.step])  # (P, H)
        sums, done = _Sums(memory[: STEPS * cells.numel()].view(STEPS, *cells.shape)), 0
        while counts[done]:
            active = counts[done]
            seen, cells, deleted, left = seen[:active], cells[:active], deleted[:active], left[:active]
            steps = torch.arange(done, min(done + STEPS, len(counts) - 1))  # (S,)
            places = (deleted[:, None] + (steps + 1) * direction.step).clamp_(0, len(self.others) - 1)  # (A, S)
            self._walk(seen, cells, places.T.contiguous(), _widths(counts[done : done + STEPS + 1]), sums)
            done += len(steps)
            sums.add(places, self.others, None if counts[done - 1] == active else left <= steps[:, None])
            active = counts[done]
            if self.tolerance and active:
                last = places[:active, -1]
                on = self._apart(sums.states[len(steps) - 1, :active], cells[:active], last)
                if not on.all():
                    sums.stop(on, self.beyond.take(last[~on]))
                    going = on.nonzero().squeeze(1)
                    seen, cells, deleted, left = seen[going], cells[going], deleted[going], left[going]
                    counts = [*counts[:done], *under_way(left - done), 0]
        return sums.side()

    def _walk(self, seen: Tensor, cells: Tensor, places: Tensor, widths: list[int], sums: "_Sums") -> None:
        """Take some steps of chains to places (S, A), so many in each and after them, from their gates, in `seen`
        (A, 4H + F), and their cells (A, H), which are overwritten. States and scores go to the sums."""
        size, width, chains = self.gates, 0, sums.states.shape[1]
        for *step, now, on in zip(places, sums.states, sums.scores, widths, widths[1:], strict=False):
            if now != width:  # views are made when they change: a step has little more to do than call ten functions
                width, seen, cells = now, seen[:now], cells[:now]
                gates, features = seen[:, :size].chunk(4, dim=1), seen[:, size:]
            place, state, score = step if now == chains else (values[:now] for values in step)
            advance(gates, cells, cells, state)
            if on == now:
                self._look(place, state, seen)
                self.read.scores(features, place, score)
            else:
                self._look(place[:on], state[:on], seen[:on])
                self.read.scores(features[:on], place[:on], score[:on])
                ended = self.features.index_select(0, place[on:]).addmm_(state[on:], self.matrix[:, size:])
                self.read.scores(self.read.curved(ended), place[on:], score[on:])

    def _look(self, places: Tensor, states: Tensor, seen: Tensor) -> None:
        """From states (A, H) in places (A,) to the gates of the next step and to features, `seen` (A, 4H + F)."""
        torch.index_select(self.kept, 0, places, out=seen)
        seen.addmm_(states, self.matrix)
        (seen if self.read.curve else seen[:, : self.gates]).sigmoid_()

    def _apart(self, states: Tensor, cells: Tensor, places: Tensor) -> Tensor:
        """Whether states or cells (A, H) differ from those of the whole text by more than the tolerance, (A,)."""
        whole = self.direction
        apart = states - whole.states.index_select(0, places), cells - whole.cells.index_select(0, whole.row[places])
        return torch.cat(apart, dim=1).abs_().amax(1) > self.tolerance


def _widths(counts: list[int]) -> list[int]:
    """How many chains to compute where so many are under way, step by step."""
    widths = counts[:1]
    for count in counts[1:]:
        widths.append(count if count < (1 - ENDED) * widths[-1] else widths[-1])
    return widths


class _Sums:
    """Attention of the chains of a block: states and scores of some steps at a time, and what they add up to."""

    def __init__(self, states: Tensor) -> None:
        """With room for states (S, P, H)."""
        steps, chains, size = states.shape
        self.states, self.scores = states, states.new_empty(steps, chains)
        self.top, self.total = states.new_full((chains,), torch.finfo(states.dtype).min), states.new_zeros(chains)
        self.own, self.others = states.new_zeros(2, chains, size)
        self.cells = torch.arange(chains)[:, None] + chains * torch.arange(steps)  # (P, S), of the states
        self.chain = torch.arange(chains)

    def add(self, places: Tensor, others: Tensor, ended: Tensor | None) -> None:
        """Attend to the states of the steps and to those of the other half, `others` (N, H), in their places (A, S),
        except where chains have ended (S, A)."""
        active, steps = places.shape
        scores = self.scores[:steps, :active]
        if ended is not None:
            scores.masked_fill_(ended, -torch.inf)
        top = torch.maximum(self.top[:active], scores.amax(0))
        shrunk = (self.top[:active] - top).exp_()
        weights = (scores - top).exp_().T.contiguous()  # (A, S)
        self.total[:active].mul_(shrunk).add_(weights.sum(1))
        self.top[:active] = top
        tables = (self.own, self.cells[:active, :steps], self.states.flatten(0, 1)), (self.others, places, others)
        for sums, cells, table in tables:  # a bag multiplies and adds in one pass, which takes half the time
            sums[:active].mul_(shrunk[:, None]).add_(
                embedding_bag(cells, table, per_sample_weights=weights, mode="sum")
            )

    def stop(self, on: Tensor, beyond: Side) -> None:
        """Put the first chains that are not `on` (A,) behind those that are, and attend to all beyond them."""
        order = torch.cat([on.nonzero(), (~on).nonzero()]).squeeze(1)
        for values in (self.top, self.total, self.own, self.others, self.chain):
            values[: len(on)] = values[order]
        stopped = slice(len(on) - len(beyond.top), len(on))
        now = Side(self.top, self.total, torch.cat([self.own, self.others], dim=1)).take(stopped).joined(beyond)
        self.top[stopped], self.total[stopped] = now.top, now.total
        self.own[stopped], self.others[stopped] = now.sums.chunk(2, dim=1)

    def side(self) -> Side:
        """The sums of all chains, as they were given."""
        side = Side(self.top, self.total, torch.cat([self.own, self.others], dim=1))
        return side.take(self.chain.argsort())
