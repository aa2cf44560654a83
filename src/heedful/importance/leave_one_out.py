"""Leave-one-out: how far the output moves when an item is deleted from the text (Jain & Wallace 2019, section 4.1).

The item, a token or a sentence, is really deleted: the model reads the shorter text. Most of that reading is the
same whichever item is missing, so encoders have exact forms that do only what changes.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from heedful.importance.deletion import Deletions
from heedful.importance.deletion_average import average_deletions
from heedful.importance.deletion_bilstm import bilstm_deletions
from heedful.importance.deletion_cnn import cnn_deletions
from heedful.importance.deletion_plain import plain_deletions
from heedful.measures import tvd
from heedful.models.classifier import Classifier
from heedful.models.encoders import CNN, Average, BiLSTM, Encoder, NoEncoder
from heedful.models.inputs import Inputs, Texts
from heedful.ragged import Ragged, length_batches

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
