"""What each item says for the decision, signed, by several measures: the orders in which a race erases items.

Correlations compare sizes; whoever wants to change a decision must also know which items speak for it.
"""

from collections.abc import Callable, Iterable

import numpy as np
import torch

from heedful.evidence import chance, decide
from heedful.importance.fast.gradients import differentiable_batches
from heedful.importance.integrated_gradients import integrated_gradients
from heedful.importance.leave_one_out import without_each
from heedful.importance.outcome import Batch, output_slope
from heedful.models.batches import Inputs
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inference import predict
from heedful.ragged import Ragged

Attribution = Callable[[Classifier, Inputs, float], Ragged]  # of a model, its inputs and the tolerance of an integral


def gradient_input(model: Classifier, inputs: Inputs, tolerance: float) -> Ragged:
    """e . dp/de with p the decided class's probability, (N,): everything is differentiated, attention included."""
    return slopes(differentiable_batches(model, inputs, attention_fixed=False), inputs.items)


def slopes(batches: Iterable[Batch], items: Ragged) -> Ragged:
    """The same of any model whose instances come in batches."""
    values = np.empty(len(items.values))
    with torch.no_grad():
        for _, cells, real, read, _ in batches:
            logits, product = read()
            decided = decide(output_of(logits).numpy())
            slope = product(output_slope(logits, torch.from_numpy(decided)))
            if logits.shape[1] == 1:  # the slope is that of the second class
                slope = slope * torch.from_numpy(2 * decided - 1)[:, None]
            values[cells] = slope[real].numpy()
    return items.like(values)


def integrated(model: Classifier, inputs: Inputs, tolerance: float) -> Ragged:
    """Integrated gradients of the decided class's probability, (N,)."""
    values = integrated_gradients(model, inputs, tolerance=tolerance).values
    output = predict(model, inputs)
    if output.shape[1] > 1:
        return values
    signs = 2 * decide(output) - 1
    return values.like(values.values * signs[values.row_of_value])


def deletion(model: Classifier, inputs: Inputs, tolerance: float) -> Ragged:
    """By how much the decided class's probability falls without an item, (N,)."""
    output, items = predict(model, inputs), inputs.items
    decided = decide(output)[items.row_of_value]
    without = without_each(model, inputs).values
    return items.like(chance(output[items.row_of_value], decided) - chance(without, decided))


ATTRIBUTIONS: dict[str, Attribution] = {
    "gradient_input": gradient_input,
    "integrated_gradients": integrated,
    "leave_one_out": deletion,
}
