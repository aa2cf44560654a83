"""Which encoders have fast forms of gradients and of leave-one-out. Others are read plainly.

A fast form is exact, and tested against the plain one.
"""

from collections.abc import Callable
from typing import NamedTuple

from heedful.importance.fast.deletion_bilstm import bilstm_deletions
from heedful.importance.fast.deletion_windows import average_deletions, cnn_deletions
from heedful.importance.fast.gradients_by_encoder import (
    Differentiable,
    DifferentiableAverage,
    DifferentiableBiLSTM,
    DifferentiableCNN,
)
from heedful.importance.measure import Deletions
from heedful.models.classifier import Classifier
from heedful.models.encoders import CNN, Average, BiLSTM, Encoder, NoEncoder


class DeletionForm(NamedTuple):
    """A way to delete each item."""

    function: Callable[..., Deletions]  # of a classifier and inputs
    numbers: int | None = None  # of states in a batch, where that suits it better than the usual batch
    sentinels: bool = False  # whether texts must be read between sentinels
    long: int | None = None  # items of texts in which it may stop early, given a `tolerance`; None: it never does


class Forms(NamedTuple):
    """The fast forms of an encoder."""

    gradient: type[Differentiable] = Differentiable  # by autograd unless there is a faster way
    deletions: DeletionForm | None = None  # None: every shortened text is read


FORMS: dict[type[Encoder], Forms] = {
    BiLSTM: Forms(DifferentiableBiLSTM, DeletionForm(bilstm_deletions, numbers=1 << 20, sentinels=True, long=200)),
    CNN: Forms(DifferentiableCNN, DeletionForm(cnn_deletions)),
    Average: Forms(DifferentiableAverage, DeletionForm(average_deletions)),
    NoEncoder: Forms(deletions=DeletionForm(average_deletions)),
}


def forms_of(model: Classifier) -> Forms:
    """The fast forms that serve a model."""
    forms = FORMS.get(type(model.encoder), Forms())
    if forms.deletions and forms.deletions.sentinels and not model.sentinels:
        return forms._replace(deletions=None)
    return forms
