"""Gradient importance: |e . dy/de| for each embedded token e (Jain & Wallace 2019, section 4.1 and algorithm 1)."""

import numpy as np
import torch

from heedful.importance.differentiation import Differentiator, output_slopes
from heedful.models.classifier import Classifier
from heedful.ragged import Ragged


def gradient(model: Classifier, tokens: Ragged, *, attention_fixed: bool = True) -> Ragged:
    """|e . dy/de| of each token and each output, (N, K) float32.

    As in the paper, the attention weights are held fixed, so that only what the states say can change; otherwise the
    gradient flows through attention, too. The sentinels around each text are read and get no value.
    """
    values = tokens.like(np.empty((len(tokens.values), model.decoder.bias.shape[0]), dtype=np.float32))
    differentiate = Differentiator(model, attention_fixed=attention_fixed)
    with torch.no_grad():
        for _, cells, projected in differentiate.batches(tokens):
            logits, product = differentiate(projected)
            real = projected.inner().mask
            for output, slopes in enumerate(output_slopes(logits).unbind(dim=1)):  # (B, K) each
                values.values[cells, output] = product(slopes)[real].abs().numpy()
    return values
