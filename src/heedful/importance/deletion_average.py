"""Leave-one-out of an encoder without context: no state changes, only the softmax lacks the deleted token."""

from heedful.importance.deletion import Deletions
from heedful.importance.deletion_band import band_deletions
from heedful.models.classifier import Classifier
from heedful.models.inputs import Inputs, with_sentinels
from heedful.models.padded import Padded


def average_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Each text is read once; no neighbour of a deleted token changes."""
    states = model.encoder(model.embed(Padded.of(with_sentinels(inputs.tokens)))).inner()  # (B, T, H)
    return band_deletions(model, inputs, states, changed=[], radius=0)
