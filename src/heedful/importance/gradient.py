"""Gradient importance: |e . dy/de| for each item e (Jain & Wallace 2019, section 4.1 and algorithm 1)."""

from collections.abc import Iterable

import numpy as np
import torch

from heedful.evidence import decide
from heedful.importance.fast.gradients import differentiable_batches
from heedful.importance.outcome import Batch, output_slope
from heedful.models.batches import Inputs, Texts
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
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
    outputs = model.decoder.outputs
    decided = model.question is not None or outputs > FEW_OUTPUTS
    batches = differentiable_batches(model, inputs, attention_fixed=attention_fixed)
    return gradients(batches, inputs.items, outputs=outputs, decided=decided)


def gradients(batches: Iterable[Batch], items: Ragged, *, outputs: int, decided: bool) -> Ragged:
    """The same of any model whose instances come in batches: of each output, or of the decided one alone."""
    values = np.empty((len(items.values), 1 if decided else outputs), dtype=np.float32)
    with torch.no_grad():
        for _, cells, real, read, _ in batches:
            logits, product = read()
            explained = [torch.full((len(logits),), output) for output in range(outputs)]
            if decided:
                explained = [torch.from_numpy(decide(output_of(logits).numpy()))]
            for column, which in enumerate(explained):
                values[cells, column] = product(output_slope(logits, which))[real].abs().numpy()
    return items.like(values[:, 0] if decided else values)
