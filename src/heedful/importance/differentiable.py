"""Which way a model is differentiated: its tokens, or the words of its sentences."""

from collections.abc import Iterator

from heedful.importance.differentiation import Differentiator
from heedful.importance.differentiation_sentences import SentenceDifferentiator
from heedful.importance.outcome import Batch
from heedful.models.classifier import Classifier
from heedful.models.hierarchical import Han
from heedful.models.inputs import Inputs


def differentiable_batches(model: Classifier, inputs: Inputs, *, attention_fixed: bool) -> Iterator[Batch]:
    """Instances of similar length together; the model is left as it is."""
    if isinstance(model, Han):
        return SentenceDifferentiator(model, attention_fixed=attention_fixed).batches(inputs)
    return Differentiator(model, attention_fixed=attention_fixed).batches(inputs)
