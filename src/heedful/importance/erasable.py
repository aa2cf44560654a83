"""Texts of a heedful model with some of their items erased: deleted, or replaced by `<unk>`."""

import numpy as np
from numpy.typing import NDArray

from heedful.importance.deletion_plain import nothing_left
from heedful.models.classifier import Classifier
from heedful.models.inference import predict
from heedful.models.inputs import Inputs
from heedful.ragged import Indices, Ragged

WAYS = ("delete", "unknown")


class ErasableTexts:
    """What a model says of texts, and of what is left of them."""

    def __init__(self, model: Classifier, inputs: Inputs) -> None:
        self.model, self.inputs = model, inputs
        self.output = predict(model, inputs)
        self.nothing = nothing_left(model, inputs)  # (n, K)

    @property
    def items(self) -> Ragged:
        """One value for each item."""
        return self.inputs.items

    @property
    def words(self) -> Indices:
        """Words of each text, (n,)."""
        return self.inputs.tokens.lengths

    def erased(self, rows: Indices, gone: NDArray[np.bool_], way: str) -> NDArray[np.float32]:
        """Outputs of texts (M,) without the flagged items."""
        texts = self.inputs.take(rows)
        if way == "unknown":
            return predict(self.model, texts.unknown(gone))
        left = np.flatnonzero(texts.items.like(~gone).sum())
        output = self.nothing[rows]
        if len(left):
            output[left] = predict(self.model, texts.keep(~gone).take(left))
        return output
