"""Leave-one-out of an encoder without context: no state changes, only the softmax lacks the deleted token."""

from heedful.importance.deletion import Deletions
from heedful.importance.deletion_band import band_deletions
from heedful.models.classifier import Classifier
from heedful.models.inputs import Inputs


def average_deletions(model: Classifier, inputs: Inputs) -> Deletions:
    """Each text is read once; no neighbour of a deleted token changes."""
    states = model.inner(model.encoder(model.read(inputs)))  # (B, T, H)
    return band_deletions(model, inputs, states, changed=[], radius=0)
