"""Gradient importance: |e . dy/de| for each embedded token e (Jain & Wallace 2019, section 4.1 and algorithm 1)."""

import numpy as np
import torch

from heedful.evidence import decide
from heedful.importance.differentiation import Differentiator, output_slope
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inputs import Inputs, Texts
from heedful.ragged import Ragged


def gradient(model: Classifier, texts: Texts, *, attention_fixed: bool = True) -> Ragged:
    """|e . dy/de| of each token and each output, (N, K) float32; of models that answer queries, of the decided answer
    alone, (N,), as in the released code: there may be hundreds.

    As in the paper, the attention weights are held fixed, so that only what the states say can change; otherwise the
    gradient flows through attention, too. The sentinels around each text are read and get no value.
    """
    inputs = Inputs.of(texts)
    tokens, decided = inputs.tokens, model.question is not None
    values = np.empty((len(tokens.values), 1 if decided else model.decoder.outputs), dtype=np.float32)
    differentiate = Differentiator(model, attention_fixed=attention_fixed)
    with torch.no_grad():
        for _, cells, projected, given in differentiate.batches(inputs):
            logits, product = differentiate(projected, given)
            real = projected.inner().mask
            outputs = [torch.full((len(logits),), output) for output in range(model.decoder.outputs)]
            if decided:
                outputs = [torch.from_numpy(decide(output_of(logits).numpy()))]
            for column, which in enumerate(outputs):
                values[cells, column] = product(output_slope(logits, which))[real].abs().numpy()
    return tokens.like(values[:, 0] if decided else values)
