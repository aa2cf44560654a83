"""Leave-one-out of a BiLSTM: each deletion goes on from the states already known on either side of the gap.

Without token p the forward states before p and the backward states after p are as they were. The others come from two
chains: forward from the state before p over the tokens after it, backward from the state after p over those before it.
At every token one half of the state has changed, and attention and decoder are recomputed in that half only. Attention
is summed up on either side of the gap by itself; the two sides are put together at the end.
"""

from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding, pad

from heedful.importance.fast.deletion_bilstm_small import small_state_deletions
from heedful.importance.fast.deletions import Direction, Readout, Side, joined, readout, weights_of
from heedful.importance.measure import Deletions
from heedful.models.batches import Inputs, with_sentinels
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import BiLSTM

# states of up to so many numbers: texts side by side are 1.1 to 1.5 times faster (benchmarks/leave_one_out.py,
# stories of 421 tokens); larger states are slower that way
SMALL = 128
BLOCK_ITEMS = 1 << 23  # of the decoder, of all steps of a block: bounds the memory of long texts
BLOCK_ROWS = 256  # chains at a time: their gates, and the tokens they read, stay in a cache


def bilstm_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Read each text once, then run the chains of all tokens, first those behind the gaps, then those before them."""
    if model.encoder.size <= SMALL:
        return small_state_deletions(model, inputs)
    encoder, decoder, tokens = cast(BiLSTM, model.encoder), model.decoder, inputs.tokens
    framed = with_sentinels(tokens)  # N places, for M tokens
    starts, ends = torch.from_numpy(framed.offsets[:-1]), torch.from_numpy(framed.offsets[1:] - 1)  # (B,) sentinels
    row = torch.from_numpy(tokens.row_of_value)  # (M,)
    places = torch.arange(len(row)) + 2 * row + 1  # (M,) where the tokens stand between sentinels
    embedded = embedding(torch.from_numpy(framed.values), model.embedding)  # (N, E)
    query = model.query(inputs)
    read = readout(model.attention, encoder.size, query, len(tokens))
    features, text = len(read.matrix), torch.from_numpy(framed.row_of_value)  # (N,)
    matrix = torch.cat([read.matrix.T, decoder.items(torch.eye(encoder.size, dtype=embedded.dtype))], dim=1)
    bias = pad(read.bias.T, (0, decoder.width))[text]  # (N, F + D), zero for the decoder: its bias comes last
    ahead = _Half(Direction(encoder.ahead, embedded, starts, ends, step=1), matrix.chunk(2)[0])
    back = _Half(Direction(encoder.back, embedded, ends, starts, step=-1), matrix.chunk(2)[1])

    seen = (ahead.seen + back.seen + bias)[places]  # (M, F + D)
    scores, _ = tokens.like(_scores(read, seen[:, :features], row).numpy()).pad(-np.inf)  # (B, T)
    items, _ = tokens.like(seen[:, features:].numpy()).pad()  # (B, T, D)
    mixed = (weights_of(torch.from_numpy(scores), -1)[:, None] @ torch.from_numpy(items)).squeeze(1)  # (B, D)
    after = ahead.side(places, ends[row] - places - 1, read, back.seen + bias, text)
    before = back.side(places, places - starts[row] - 1, read, ahead.seen + bias, text)
    whole = output_of(decoder.logits(mixed, query))
    without = output_of(decoder.logits(joined(before, after), query.take(row)))
    return Deletions(whole.numpy(), tokens.like(without.numpy()))


def _scores(read: Readout, features: Tensor, text: Tensor) -> Tensor:
    """Attention scores (A,) of features (A, F), which are overwritten, in texts (A,)."""
    return read.scores((features.tanh_() if read.bent else features).T[None], text)[0]


class _Half:
    """One direction, and what its half of the states adds to the features of attention and to the decoder's items."""

    def __init__(self, direction: Direction, matrix: Tensor) -> None:
        self.direction = direction
        self.matrix = (matrix / 2).contiguous()  # (H / 2, F + D), of doubled states
        self.seen = direction.doubled @ self.matrix  # (N, F + D)

    def side(self, deleted: Tensor, steps: Tensor, read: Readout, kept: Tensor, text: Tensor) -> Side:
        """Delete each of the places (M,), and sum up attention to the next so many tokens (M,) in this direction.

        `kept` (N, F + D) is what does not change: what the other half adds, and the bias. The places belong to texts,
        `text` (N,).
        """
        size = len(read.matrix)
        side = Side.nothing(kept, kept.shape[1] - size, len(deleted))
        steps, order = steps.sort(descending=True)
        order = order[: steps.count_nonzero()]
        longest = int(steps.max()) if len(steps) else 0
        rows = max(1, min(BLOCK_ROWS, BLOCK_ITEMS // max(1, longest * (kept.shape[1] - size))))
        for first in range(0, len(order), rows):
            block = order[first : first + rows]  # (P,)
            left = steps[first : first + len(block)]  # (P,)
            scores = kept.new_full((int(left[0]), len(block)), -torch.inf)  # (S, P): steps come first
            items = kept.new_zeros(*scores.shape, kept.shape[1] - size)  # (S, P, D)
            seen = kept.new_empty(len(block), kept.shape[1])  # (P, F + D)
            features, decoded = seen[:, :size], seen[:, size:]
            chains = self.direction.chains(deleted[block], left)
            for (places, doubled), score, item in zip(chains, scores, items, strict=True):
                active = len(places)
                if active < len(seen):
                    seen, features, decoded = seen[:active], features[:active], decoded[:active]
                torch.index_select(kept, 0, places, out=seen)
                seen.addmm_(doubled, self.matrix)
                score[:active] = _scores(read, features, text[places])
                item[:active] = decoded
            top = scores.amax(0)
            weights = scores.sub_(top).exp_()
            side.top[block], side.total[block] = top, weights.sum(0)
            side.items[:, block] = (weights[..., None] * items).sum(0).T
        return side
