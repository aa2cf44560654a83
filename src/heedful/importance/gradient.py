"""Gradients times inputs, e . dy/de for each item e (Jain & Wallace 2019, section 4.1 and algorithm 1).

The embedding e of a token is its vector, that of a sentence the vectors of all its words. Sentinels and other tokens
that are no items are read and get no value.
"""

import numpy as np
import torch

from heedful.evidence import decide
from heedful.importance import MEASURES
from heedful.importance.measure import Instances, Measure, Measured, output_slope
from heedful.models.decoders import output_of
from heedful.ragged import Ragged

FEW_OUTPUTS = 3  # with more, only the decided output is explained


def gradient(instances: Instances, *, attention_fixed: bool = True) -> Ragged:
    """|e . dy/de| of each item and each output, (N, K) float32; of the decided output alone, (N,), for models with
    queries or many outputs, as in the released code.

    As in the paper, the tested attention weights are held fixed; otherwise the gradient flows through attention, too.
    """
    items, outputs, decided = instances.items, instances.outputs, instances.decided_only
    values = np.empty((len(items.values), 1 if decided else outputs), dtype=np.float32)
    with torch.no_grad():
        for _, cells, real, read, _ in instances.differentiable(attention_fixed=attention_fixed):
            logits, product = read()
            explained = [torch.full((len(logits),), output) for output in range(outputs)]
            if decided:
                explained = [torch.from_numpy(decide(output_of(logits).numpy()))]
            for column, which in enumerate(explained):
                values[cells, column] = product(output_slope(logits, which))[real].abs().numpy()
    return items.like(values[:, 0] if decided else values)


def gradient_input(instances: Instances) -> Ragged:
    """e . dp/de with p the decided class's probability, (N,); the gradient flows through attention."""
    values = np.empty(len(instances.items.values))
    with torch.no_grad():
        for _, cells, real, read, _ in instances.differentiable(attention_fixed=False):
            logits, product = read()
            decided = decide(output_of(logits).numpy())
            slope = product(output_slope(logits, torch.from_numpy(decided)))
            if logits.shape[1] == 1:  # the slope is that of the second class
                slope = slope * torch.from_numpy(2 * decided - 1)[:, None]
            values[cells] = slope[real].numpy()
    return instances.items.like(values)


MEASURES.register("gradient", Measure(lambda texts, _: Measured(gradient(texts))))
MEASURES.register(
    "gradient_through_attention", Measure(lambda texts, _: Measured(gradient(texts, attention_fixed=False)))
)
MEASURES.register(
    "gradient_input",
    Measure(lambda texts, _: Measured(gradient_input(texts)), signed=lambda _, measured: measured.values),
)
