"""Leave-one-out of a BiLSTM with small states: the same chains as in deletion_bilstm.py, over texts side by side.

Small states leave little to compute in a step, and gathering what the chains read, and calling for each part of a step,
would take as long. Here the chains of neighbouring columns read neighbouring columns, and what attention and decoder
make of their states waits for some steps to be done at once.
"""

from collections.abc import Iterator
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from heedful.importance.fast.deletions import Readout, Side, advance, joined, readout, weights_of
from heedful.importance.measure import Deletions
from heedful.models.batches import Inputs, Padded, with_sentinels
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import BiLSTM
from heedful.ragged import length_batches

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


ALIKE = 1.2  # the longest text over the shortest
BLOCK_CELLS = 1 << 17  # of gates at a time: they stay in a cache


def small_state_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Texts of nearly the same length together: every chain goes on until the longest text ends."""
    tokens, outputs = inputs.tokens, model.decoder.outputs
    whole = np.empty((len(tokens), outputs), dtype=np.float32)
    without = np.empty((len(tokens.values), outputs), dtype=np.float32)
    for rows in length_batches(tokens.lengths, rows=len(tokens), alike=ALIKE):
        deletions = _deletions(model, inputs.take(rows))
        whole[rows], without[tokens.cells(rows)] = deletions.whole, deletions.without.values
    return Deletions(whole, tokens.like(without))


def _deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Read the texts once, then run the chains of all tokens, first those behind the gaps, then those before them."""
    encoder, decoder, query = cast(BiLSTM, model.encoder), model.decoder, model.query(inputs)
    tokens = Padded.of(with_sentinels(inputs.tokens))  # (B, P)
    texts, places = tokens.values.shape
    embedded = model.embed(tokens)
    ahead_states, back_states = encoder(embedded).values.transpose(0, 1).chunk(2, dim=-1)  # (P, B, h)
    words, mask = embedded.values.transpose(0, 1), tokens.mask.T  # (P, B, E), (P, B)
    read = readout(model.attention, encoder.size, query, texts)
    matrix = torch.cat([read.matrix, decoder.items(torch.eye(encoder.size, dtype=words.dtype)).T])  # (F + D, H)
    bias = torch.cat([read.bias, read.bias.new_zeros(decoder.width, texts)]).repeat(1, places)  # the decoder's is last
    ahead = Direction(encoder.ahead, *_columns(words, ahead_states, mask), texts=texts)
    back = Direction(encoder.back, *_columns(words.flip(0), back_states.flip(0), mask.flip(0)), texts=texts)
    halves = [half @ one.doubled / 2 for half, one in zip(matrix.chunk(2, dim=1), (ahead, back), strict=True)]
    turned = [_turned(half, texts) for half in halves]
    seen = (halves[0] + turned[1] + bias)[:, texts:-texts].view(-1, places - 2, texts)  # (F + D, T, B)

    real = tokens.inner().mask.T.reshape(-1)  # (T * B,): the columns between the sentinels' that hold a token
    hidden = torch.where(real, 0.0, -torch.inf).to(words.dtype)
    after = _Attending(read, ahead, matrix.chunk(2, dim=1)[0], turned[1] + bias, hidden).side()
    before = _Attending(read, back, matrix.chunk(2, dim=1)[1], turned[0] + bias, torch.zeros_like(hidden)).side()
    own = torch.arange(texts).repeat(places - 2)
    features = seen[: len(read.matrix)].flatten(1)
    scores = read.scores((features.tanh() if read.bent else features)[None], own)[0] + hidden  # (T * B,)
    weights = weights_of(scores.view(places - 2, texts), 0)  # (T, B)
    mixed = torch.einsum("tb,dtb->bd", weights, seen[len(read.matrix) :])
    order = torch.arange(len(real)).view(places - 2, texts).T.reshape(-1)  # text after text
    chosen = order[real[order]]  # (M,)
    before = Side(*(_turned(values, texts) for values in before))
    without = decoder.logits(joined(before, after)[chosen], query.take(own[chosen]))
    return Deletions(output_of(decoder.logits(mixed, query)).numpy(), inputs.tokens.like(output_of(without).numpy()))


def _columns(*values: Tensor) -> Iterator[Tensor]:
    """Places and texts (P, B, ...) as columns (P * B, ...)."""
    return (value.flatten(0, 1) for value in values)


def _add(side: Side, scores: Tensor, items: Tensor) -> None:
    """Attend to some steps more: scores (S, A), minus infinity where there is nothing, and items (S, D, A), which are
    overwritten, in the first A columns."""
    top, total, sums = (values[..., : scores.shape[1]] for values in side)
    higher = torch.maximum(top, scores.amax(0))
    shrunk = (top - higher).exp_()
    weights = (scores - higher).exp_()
    total.mul_(shrunk).add_(weights.sum(0))
    sums.mul_(shrunk).add_(items.mul_(weights[:, None]).sum(0))
    top.copy_(higher)


def _turned(values: Tensor, texts: int) -> Tensor:
    """Columns (..., C) from back to front, place by place."""
    return values.view(*values.shape[:-1], -1, texts).flip(-2).flatten(-2)


class _Attending:
    """Deletes the token of each column between the sentinels', and attends to those that follow in one direction."""

    def __init__(self, read: Readout, direction: Direction, matrix: Tensor, kept: Tensor, hidden: Tensor) -> None:
        """`matrix` (F + D, h) gives what a state adds to features and items, `kept` (F + D, C) is what does not change.
        `hidden` (T * B,) is minus infinity where there is no token, unless chains never come there."""
        texts, beyond = direction.texts, STEPS * direction.texts
        self.read, self.direction, self.features = read, direction, len(read.matrix)
        self.end = kept.shape[1] - texts  # where the last sentinels stand
        self.matrix = matrix / 2  # of doubled states
        self.kept = pad(kept, (0, beyond))
        self.hidden = pad(pad(hidden, (texts, 0)), (0, beyond), value=-torch.inf)  # by columns, and beyond them
        self.text = torch.arange(texts).repeat(kept.shape[1] // texts)

    def side(self) -> Side:
        """Block by block of columns, some steps at a time."""
        texts, end = self.direction.texts, self.end
        side = Side.nothing(self.hidden, len(self.matrix) - self.features, end - texts)
        size = max(texts, BLOCK_CELLS // len(self.direction.weight))
        for first in range(texts, end - texts, size):
            last = min(first + size, end - texts)
            block = Side(*(values[..., first - texts : last - texts] for values in side))
            memory = self.kept.new_empty(STEPS * len(self.matrix) * (last - first))
            for column, doubled in self.direction.chains(first, last, end):
                steps, _, width = doubled.shape
                seen = memory[: steps * len(self.matrix) * width].view(steps, -1, width)  # (S, F + D, A)
                self._attend(block, doubled, column, seen)
        return side

    def _attend(self, block: Side, doubled: Tensor, column: int, seen: Tensor) -> None:
        """Attend to the states of some steps (S, h, A), at first in `column` and the following; `seen` is overwritten.
        Chains that ended on the way are beyond the end, and hidden."""
        steps, rows, width = seen.shape
        texts = self.direction.texts
        kept = self.kept.as_strided((steps, rows, width), (texts, self.kept.stride(0), 1), column)
        torch.baddbmm(kept, self.matrix.expand(steps, -1, -1), doubled, out=seen)
        features = seen[:, : self.features]
        if self.read.bent:
            features.tanh_()
        scores = self.read.scores(features, self.text[column : column + width])
        scores = scores + self.hidden.as_strided((steps, width), (texts, 1), column)
        _add(block, scores, seen[:, self.features :])
