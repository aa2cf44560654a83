"""Gradient importance: |e . dy/de| for each item e (Jain & Wallace 2019, section 4.1 and algorithm 1)."""

import numpy as np
import torch

from heedful.evidence import decide
from heedful.importance.differentiable import differentiable_batches
from heedful.importance.outcome import output_slope
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inputs import Inputs, Texts
from heedful.ragged import Ragged

FEW_OUTPUTS = 3


def gradient(model: Classifier, texts: Texts, *, attention_fixed: bool = True) -> Ragged:
    """|e . dy/de| of each item and each output, (N, K) float32; of models that answer queries or have more than a few
    outputs, of the decided one alone, (N,), as in the released code: there may be hundreds.

    The embedding e of a token is its vector, that of a sentence the vectors of all its words. As in the paper, the
    tested attention weights are held fixed, so that only what the states say can change; otherwise the gradient flows
    through attention, too. The sentinels around a text are read and get no value.
    """
    inputs = Inputs.of(texts)
    items, decided = inputs.items, model.question is not None or model.decoder.outputs > FEW_OUTPUTS
    values = np.empty((len(items.values), 1 if decided else model.decoder.outputs), dtype=np.float32)
    with torch.no_grad():
        for _, cells, real, read, _ in differentiable_batches(model, inputs, attention_fixed=attention_fixed):
            logits, product = read()
            outputs = [torch.full((len(logits),), output) for output in range(model.decoder.outputs)]
            if decided:
                outputs = [torch.from_numpy(decide(output_of(logits).numpy()))]
            for column, which in enumerate(outputs):
                values[cells, column] = product(output_slope(logits, which))[real].abs().numpy()
    return items.like(values[:, 0] if decided else values)
