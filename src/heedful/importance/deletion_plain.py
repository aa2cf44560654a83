"""Leave-one-out as it is defined: every shortened sequence is encoded from its beginning. Serves any encoder.

What does not depend on other items, the vectors of words or of sentences, is read once.
"""

import numpy as np
import torch

from heedful.importance.deletion import Deletions
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inputs import Inputs
from heedful.models.padded import Padded

CHUNK_CELLS = 32_768  # items of shortened sequences at a time: bounds the memory of long documents


def plain_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Outputs of every text and of all its shortened versions."""
    read, given, shape = model.read(inputs), model.given(inputs), inputs.items
    without = nothing_left(model, inputs)[shape.row_of_value]  # (N, K); stays where the only item is deleted
    row, length = shape.row_of_value, read.values.shape[1]
    place = np.arange(len(row)) - shape.offsets[row] + model.sentinels  # (N,) of the deleted among what is read
    chosen = np.flatnonzero(shape.lengths[row] > 1)
    positions, step = torch.arange(length - 1), max(1, CHUNK_CELLS // length)
    for first in range(0, len(chosen), step):
        some = chosen[first : first + step]  # (P,)
        rows, gap = torch.from_numpy(row[some]), torch.from_numpy(place[some])[:, None]
        left = positions + (positions >= gap)  # (P, L - 1): the places that are left
        shortened = Padded(read.values[rows[:, None], left], read.lengths[rows] - 1)
        without[some] = output_of(model(shortened, given.take(rows)).logits).numpy()
    whole = output_of(model(read, given).logits).numpy()
    return Deletions(whole, shape.like(without))


def nothing_left(model: Classifier, inputs: Inputs) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Outputs (n, K) where there is nothing to attend to: what the decoder says of zeros."""
    with torch.inference_mode():
        mixed = model.embedding.new_zeros(len(inputs), model.decoder.width)
        return output_of(model.decoder.logits(mixed, model.given(inputs))).numpy()
