"""Leave-one-out: how far the output moves when a token is deleted from the text (Jain & Wallace 2019, section 4.1).

The token is really deleted: the model reads the shorter text, between the same sentinels. Most of that reading is the
same whichever token is missing, so every encoder of heedful has an exact form that does only what changes.
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
from heedful.models.encoders import CNN, Average, BiLSTM, Encoder
from heedful.models.inputs import Inputs, Texts
from heedful.ragged import Ragged, length_batches

BATCH_ROWS = 64
BATCH_CELLS = 1024  # padded tokens a batch: bounds the memory of long documents, keeps lengths alike


class Form(NamedTuple):
    """A way to delete each token, and how many times the usual batch suits it best."""

    deletions: Callable[[Classifier, Inputs], Deletions]
    scale: int = 1


FORMS: dict[type[Encoder], Form] = {
    BiLSTM: Form(bilstm_deletions, scale=4),  # it runs the chains of all texts together
    CNN: Form(cnn_deletions),
    Average: Form(average_deletions),
}


def leave_one_out(model: Classifier, texts: Texts) -> Ragged:
    """Total variation distance between the outputs with and without each token: (N,) float32."""
    tokens, deletions = Inputs.of(texts).tokens, _deletions(model, Inputs.of(texts))
    whole = np.repeat(deletions.whole, tokens.lengths, axis=0)  # (N, K)
    return tokens.like(tvd(whole, deletions.without.values).astype(np.float32))


def without_each(model: Classifier, texts: Texts) -> Ragged:
    """The outputs with each token deleted: (N, K) float32. Without its only token a text is a vector of zeros."""
    return _deletions(model, Inputs.of(texts)).without


def _deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Batch by batch of similar lengths; an encoder without a form of its own reads every shortened text."""
    form = FORMS.get(type(model.encoder), Form(plain_deletions))
    tokens, outputs = inputs.tokens, model.decoder.outputs
    whole = np.empty((len(tokens), outputs), dtype=np.float32)
    without = tokens.like(np.empty((len(tokens.values), outputs), dtype=np.float32))
    filled = np.flatnonzero(tokens.lengths)
    with torch.inference_mode():
        for batch in length_batches(
            tokens.lengths[filled], rows=form.scale * BATCH_ROWS, cells=form.scale * BATCH_CELLS
        ):
            rows = filled[batch]
            deletions = form.deletions(model, inputs.take(rows))
            whole[rows] = deletions.whole
            without.values[tokens.cells(rows)] = deletions.without.values
    return Deletions(whole, without)
