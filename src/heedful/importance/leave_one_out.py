"""Leave-one-out: how far the output moves when an item is deleted from the text (Jain & Wallace 2019, section 4.1).

The item, a token or a sentence, is really deleted: the model reads the shorter text. Most of that reading is the
same whichever item is missing, so encoders have exact forms that do only what changes.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from heedful.importance.fast.deletion_bilstm import bilstm_deletions
from heedful.importance.fast.deletion_windows import average_deletions, cnn_deletions
from heedful.importance.fast.deletions import Deletions
from heedful.measures import tvd
from heedful.models.batches import Inputs, Padded, Texts
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import CNN, Average, BiLSTM, Encoder, NoEncoder
from heedful.ragged import Ragged, length_batches

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


BATCH_ROWS = 64
BATCH_CELLS = 1024  # padded tokens a batch: bounds the memory of long documents, keeps lengths alike


class Form(NamedTuple):
    """A way to delete each item, and how many times the usual batch suits it best."""

    deletions: Callable[[Classifier, Inputs], Deletions]
    scale: int = 1


FORMS: dict[type[Encoder], Form] = {
    CNN: Form(cnn_deletions),
    Average: Form(average_deletions),
    NoEncoder: Form(average_deletions),
}
BILSTM = Form(bilstm_deletions, scale=4)  # it runs the chains of all texts together; written for sentinels


def leave_one_out(model: Classifier, texts: Texts) -> Ragged:
    """Total variation distance between the outputs with and without each item: (N,) float32."""
    items, deletions = Inputs.of(texts).items, _deletions(model, Inputs.of(texts))
    whole = np.repeat(deletions.whole, items.lengths, axis=0)  # (N, K)
    return items.like(tvd(whole, deletions.without.values).astype(np.float32))


def without_each(model: Classifier, texts: Texts) -> Ragged:
    """The outputs with each item deleted: (N, K) float32. Without its only item a text is a vector of zeros."""
    return _deletions(model, Inputs.of(texts)).without


def _deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Batch by batch of similar lengths; an encoder without a form of its own reads every shortened text."""
    form = FORMS.get(type(model.encoder), Form(plain_deletions))
    if type(model.encoder) is BiLSTM and model.sentinels:
        form = BILSTM
    items, outputs = inputs.items, model.decoder.outputs
    whole = np.empty((len(items), outputs), dtype=np.float32)
    without = items.like(np.empty((len(items.values), outputs), dtype=np.float32))
    filled = np.flatnonzero(items.lengths)
    with torch.inference_mode():
        for batch in length_batches(
            items.lengths[filled], rows=form.scale * BATCH_ROWS, cells=form.scale * BATCH_CELLS
        ):
            rows = filled[batch]
            deletions = form.deletions(model, inputs.take(rows))
            whole[rows] = deletions.whole
            without.values[items.cells(rows)] = deletions.without.values
    return Deletions(whole, without)
