"""Outputs of our classifiers with each item deleted.

Most of reading a shortened text is the same whichever item is missing, so encoders may have exact forms that do only
what changes (`fast/forms.py`); for any other encoder every shortened text is read.
"""

from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.importance.fast.forms import DeletionForm, forms_of
from heedful.importance.measure import Deletions
from heedful.measures import tvd
from heedful.models.batches import Inputs, Padded
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inference import predict
from heedful.ragged import Indices, Ragged, length_batches

BATCH_ROWS = 64
BATCH_CELLS = 1024  # padded tokens per batch: bounds the memory of long documents, keeps lengths alike
CHUNK_CELLS = 32_768  # items of shortened sequences at a time: bounds the memory of long documents
SAMPLE = 4  # items of a long text whose exact deletion is compared


def deletions(model: Classifier, inputs: Inputs, *, tolerance: float = 0.0) -> Deletions:
    """Batch by batch of similar lengths. Without its only item a text is a vector of zeros.

    With a tolerance, forms may stop early in long texts, and the error that this makes is measured."""
    form = forms_of(model).deletions or DeletionForm(plain_deletions)
    scale = 1 if form.numbers is None else max(1, form.numbers // (model.encoder.size * BATCH_CELLS))
    items, outputs = inputs.items, model.decoder.outputs
    whole = np.empty((len(items), outputs), dtype=np.float32)
    without = items.like(np.empty((len(items.values), outputs), dtype=np.float32))
    stops = items.lengths >= form.long if tolerance and form.long else np.zeros(len(items), dtype=bool)
    ways = (form.function, (items.lengths > 0) & ~stops), (partial(form.function, tolerance=tolerance), stops)
    with torch.inference_mode():
        for function, chosen in ways:
            some = np.flatnonzero(chosen)
            for batch in length_batches(items.lengths[some], rows=scale * BATCH_ROWS, cells=scale * BATCH_CELLS):
                rows = some[batch]
                found = function(model, inputs.take(rows))
                whole[rows] = found.whole
                without.values[items.cells(rows)] = found.without.values
    error = _error(model, inputs, without, np.flatnonzero(stops)) if tolerance else None
    return Deletions(whole, without, error)


def _error(model: Classifier, inputs: Inputs, without: Ragged, rows: Indices) -> NDArray[np.float32]:
    """The largest TVD (n,) from the exact outputs in these texts, each at some items drawn by its length alone, so that
    other texts make no difference; zero elsewhere."""
    error = np.zeros(len(without), dtype=np.float32)
    drawn = [np.random.default_rng(length).permutation(length)[:SAMPLE] for length in without.lengths[rows]]
    if drawn:
        items = np.concatenate([without.offsets[row] + some for row, some in zip(rows, drawn, strict=True)])
        apart = tvd(without.values[items], predict(model, inputs.shortened(items)))
        np.maximum.at(error, without.row_of_value[items], apart.astype(np.float32))
    return error


def plain_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Read every text and all its shortened versions."""
    read, query, shape = model.read(inputs), model.query(inputs), inputs.items
    without = nothing_left(model, inputs)[shape.row_of_value]  # (N, K); stays where the only item is deleted
    row, length = shape.row_of_value, read.values.shape[1]
    place = np.arange(len(row)) - shape.offsets[row] + model.sentinels  # (N,) of the deleted item among cells
    chosen = np.flatnonzero(shape.lengths[row] > 1)
    positions, step = torch.arange(length - 1), max(1, CHUNK_CELLS // length)
    for first in range(0, len(chosen), step):
        some = chosen[first : first + step]  # (P,)
        rows, gap = torch.from_numpy(row[some]), torch.from_numpy(place[some])[:, None]
        left = positions + (positions >= gap)  # (P, L - 1): the cells that are left
        shortened = Padded(read.values[rows[:, None], left], read.lengths[rows] - 1)
        without[some] = output_of(model(shortened, query.take(rows)).logits).numpy()
    whole = output_of(model(read, query).logits).numpy()
    return Deletions(whole, shape.like(without))


def nothing_left(model: Classifier, inputs: Inputs) -> NDArray[np.float32]:
    """Outputs (n, K) with nothing to attend to: the decoder reads zeros."""
    with torch.inference_mode():
        mixed = model.embedding.new_zeros(len(inputs), model.decoder.width)
        return output_of(model.decoder.logits(mixed, model.query(inputs))).numpy()
