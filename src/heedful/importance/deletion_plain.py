"""Leave-one-out as it is defined: every shortened text is read from its beginning. Serves any encoder."""

import numpy as np

from heedful.importance.deletion import Deletions
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inference import predict
from heedful.ragged import Indices, Ragged

CHUNK_CELLS = 1_000_000  # tokens of shortened texts at a time: bounds the memory of long documents


def plain_deletions(model: Classifier, tokens: Ragged) -> Deletions:
    """Outputs of every text and of all its shortened versions."""
    bias = output_of(model.decoder.bias.detach()).numpy()  # (K,)
    without = np.tile(bias, (len(tokens.values), 1))  # (N, K); stays where the only token is deleted
    lengths = np.repeat(tokens.lengths, tokens.lengths) - 1  # (N,) of the shortened texts
    deletions = np.flatnonzero(lengths)
    chunk = np.cumsum(lengths[deletions]) // CHUNK_CELLS
    for some in np.split(deletions, np.flatnonzero(np.diff(chunk)) + 1):
        without[some] = predict(model, shortened(tokens, some))
    return Deletions(predict(model, tokens), tokens.like(without))


def shortened(tokens: Ragged, deletions: Indices) -> Ragged:
    """For each deleted value (its place in `tokens.values`) the row it stands in, without it."""
    rows = tokens.row_of_value[deletions]
    texts = tokens.take(rows)
    kept = np.ones(len(texts.values), dtype=bool)
    kept[texts.offsets[:-1] + deletions - tokens.offsets[rows]] = False
    return Ragged.from_lengths(texts.values[kept], texts.lengths - 1)
