"""Leave-one-out of a BiLSTM: each deletion goes on from the states already known on either side of the gap.

Without token p the forward states before p and the backward states after p are as they were. The others come from two
chains: forward from the state before p over the tokens after it, backward from the state after p over those before it.
At every token one half of the state has changed, and attention and decoder are recomputed in that half only.
"""

from typing import cast

import torch
from torch import Tensor
from torch.nn.functional import embedding

from heedful.importance.chains import Direction
from heedful.importance.deletion import Deletions, weights_of
from heedful.importance.readout import Readout, readout
from heedful.models.classifier import Classifier, with_sentinels
from heedful.models.encoders import BiLSTM
from heedful.models.padded import Padded
from heedful.ragged import Ragged

BLOCK_ROWS = 384  # chains at a time: their gates stay in a cache


def bilstm_deletions(model: Classifier, tokens: Ragged) -> Deletions:
    """Read each text once, then run the chains, block by block of deleted tokens."""
    encoder, bias = cast(BiLSTM, model.encoder), model.decoder.bias
    framed = Padded.of(with_sentinels(tokens))
    rows, length = framed.values.shape  # B, L = T + 2
    positions = torch.arange(length)[:, None]
    real = positions < framed.lengths  # (L, B): time comes first
    attended = (positions > 0) & (positions < framed.lengths - 1)  # (L, B)
    embedded = embedding(framed.values.T, model.embedding)  # (L, B, E)
    read = readout(model.attention, encoder.size)
    matrices = zip(read.matrix.chunk(2), model.decoder.linear.weight.T.chunk(2), strict=True)  # of each half
    ahead = _Half(Direction(encoder.ahead, embedded, real, step=1), *next(matrices))
    back = _Half(Direction(encoder.back, embedded, real, step=-1), *next(matrices))

    scores = read.scores(ahead.features + back.features + read.bias).masked_fill(~attended, -torch.inf)  # (L, B)
    whole = (weights_of(scores, 0)[..., None] * (ahead.values + back.values)).sum(0) + bias  # (B, K)
    without = bias.new_empty(rows, length - 2, len(bias))  # (B, T, K)
    step = max(1, BLOCK_ROWS // rows)
    for first in range(1, length - 1, step):
        deleted = torch.arange(first, min(first + step, length - 1))  # (P,)
        block = (length, len(deleted), rows)
        scores = bias.new_full(block, -torch.inf)  # (L, P, B); that of the deleted token stays so
        values = bias.new_zeros(*block, len(bias))  # (L, P, B, K)
        ahead.follow(deleted, read, back.features, scores, values)
        back.follow(deleted, read, ahead.features, scores, values)
        scores.masked_fill_(~attended[:, None], -torch.inf)
        values += torch.where((positions > deleted)[..., None, None], back.values[:, None], ahead.values[:, None])
        logits = (weights_of(scores, 0)[..., None] * values).sum(0) + bias  # (P, B, K)
        without[:, deleted - 1] = logits.transpose(0, 1)
    return Deletions.of_logits(tokens, whole, without)


class _Half:
    """One direction, and what its half of the states adds to the features of attention and to the decoder's scores."""

    def __init__(self, direction: Direction, features: Tensor, values: Tensor) -> None:
        self.direction = direction
        self.feature_matrix = features / 2  # (H / 2, F), of doubled states
        self.value_matrix = values / 2  # (H / 2, K)
        self.features = direction.doubled @ self.feature_matrix  # (L, B, F)
        self.values = direction.doubled @ self.value_matrix  # (L, B, K)

    def follow(self, deleted: Tensor, read: Readout, kept: Tensor, scores: Tensor, values: Tensor) -> None:
        """Run the chains of the deleted positions (P,) and write what they change.

        `kept` are the features (L, B, F) of the other half. `scores` (L, P, B) get whole attention scores, `values`
        (L, P, B, K) this half's share of the decoder's.
        """
        kept = kept + read.bias
        buffer = kept.new_empty(len(deleted), *kept.shape[1:])  # (P, B, F)
        for position, active, doubled in self.direction.chains(int(deleted[0]), int(deleted[-1]) + 1):
            features = buffer[active]
            features[:] = kept[position]
            features.flatten(0, 1).addmm_(doubled.flatten(0, 1), self.feature_matrix)
            scores[position, active] = read.scores(features)
            torch.mm(doubled.flatten(0, 1), self.value_matrix, out=values[position, active].flatten(0, 1))
