"""Leave-one-out as it is defined: every shortened text is read from its beginning. Serves any encoder."""

import numpy as np
import torch

from heedful.importance.deletion import Deletions
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inference import predict
from heedful.models.inputs import Inputs

CHUNK_CELLS = 1_000_000  # tokens of shortened texts at a time: bounds the memory of long documents


def plain_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Outputs of every text and of all its shortened versions."""
    tokens = inputs.tokens
    without = nothing_left(model, inputs)[tokens.row_of_value]  # (N, K); stays where the only token is deleted
    lengths = np.repeat(tokens.lengths, tokens.lengths) - 1  # (N,) of the shortened texts
    deletions = np.flatnonzero(lengths)
    chunk = np.cumsum(lengths[deletions]) // CHUNK_CELLS
    for some in np.split(deletions, np.flatnonzero(np.diff(chunk)) + 1):
        without[some] = predict(model, inputs.shortened(some))
    return Deletions(predict(model, inputs), tokens.like(without))


def nothing_left(model: Classifier, inputs: Inputs) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Outputs (n, K) where there is nothing to attend to: what the decoder says of zeros."""
    with torch.inference_mode():
        mixed = model.embedding.new_zeros(len(inputs), model.decoder.width)
        return output_of(model.decoder.logits(mixed, model.given(inputs))).numpy()
