"""Leave-one-out of an encoder without context: no state changes, only the softmax lacks the deleted token."""

from heedful.importance.deletion import Deletions
from heedful.importance.deletion_band import band_deletions
from heedful.models.classifier import Classifier, with_sentinels
from heedful.models.padded import Padded
from heedful.ragged import Ragged


def average_deletions(model: Classifier, tokens: Ragged) -> Deletions:
    """Each text is read once; no neighbour of a deleted token changes."""
    states = model.encoder(model.embed(Padded.of(with_sentinels(tokens)))).inner()  # (B, T, H)
    return band_deletions(model, tokens, states, changed=[], radius=0)
