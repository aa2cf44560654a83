"""Texts of our own classifiers, as measures of importance and races read them."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heedful.evidence import Evidence
from heedful.importance.deletion import deletions, nothing_left
from heedful.importance.fast.gradients import differentiable_batches
from heedful.importance.gradient import FEW_OUTPUTS
from heedful.importance.highlights import Donors
from heedful.importance.leave_one_out import erased_one_by_one
from heedful.importance.measure import Batch, Deletions
from heedful.models.batches import Inputs, Texts
from heedful.models.classifier import Classifier
from heedful.models.inference import predict
from heedful.ragged import Flags, Indices, Ragged

WAYS = ("delete", "unknown")


class ClassifierTexts:
    """Inputs of a classifier. Erased items are deleted, or their words replaced by `<unk>`."""

    ways = WAYS

    def __init__(self, model: Classifier, texts: Texts, *, leave_one_out_tolerance: float = 0.0) -> None:
        self.model, self.inputs, self.leave_one_out_tolerance = model, Inputs.of(texts), leave_one_out_tolerance
        self.outputs = model.decoder.outputs
        self.decided_only = model.question is not None or self.outputs > FEW_OUTPUTS

    @property
    def items(self) -> Ragged:
        """One value for each item."""
        return self.inputs.items

    @property
    def words(self) -> Indices:
        """Words per text, (n,)."""
        return self.inputs.tokens.lengths

    @cached_property
    def output(self) -> NDArray[np.float32]:
        """Outputs (n, K)."""
        return predict(self.model, self.inputs)

    @cached_property
    def nothing(self) -> NDArray[np.float32]:
        """Outputs (n, K) of the texts without any item."""
        return nothing_left(self.model, self.inputs)

    def erased(self, rows: Indices, gone: Flags, way: str) -> NDArray[np.float32]:
        """Outputs (M, K) of texts (M,) without the flagged items."""
        texts = self.inputs.take(rows)
        if way == "unknown":
            return predict(self.model, texts.unknown(gone))
        left = np.flatnonzero(texts.items.like(~gone).sum())
        output = self.nothing[rows]
        if len(left):
            output[left] = predict(self.model, texts.keep(~gone).take(left))
        return output

    def swapped(
        self, rows: Indices, places: Ragged, donors: Donors, given: Indices, taken: Ragged
    ) -> NDArray[np.float32]:
        """Outputs (M, K) of texts (M,) with some items replaced by those of other texts, which are `Inputs`."""
        return predict(self.model, self.inputs.take(rows).swapped(places, donors.texts, given, taken))

    def differentiable(self, *, attention_fixed: bool) -> Iterator[Batch]:
        """All texts that have items, in batches."""
        return differentiable_batches(self.model, self.inputs, attention_fixed=attention_fixed)

    def without_each(self, way: str) -> Deletions:
        """Outputs with each item erased in that way."""
        if way != "delete":
            return erased_one_by_one(self, way)
        return deletions(self.model, self.inputs, tolerance=self.leave_one_out_tolerance)


class ObservedTexts(ClassifierTexts):
    """The same with their evidence: what the model says under other attention is decoded from it."""

    def __init__(self, model: Classifier, texts: Texts, evidence: Evidence) -> None:
        super().__init__(model, texts)
        self.evidence = evidence

    @property
    def output(self) -> NDArray[np.float32]:
        """Outputs (n, K)."""
        return self.evidence.output

    def unattended(self, rows: Indices, gone: Flags) -> NDArray[np.float64]:
        """Outputs (M, K) of texts (M,) with the flagged items' attention zeroed and that of the others scaled up to a
        sum of one; where they have none, nothing is attended to."""
        some = self.evidence.take(rows)
        left = some.weights.like(np.where(gone, 0.0, some.weights.values.astype(np.float64)))
        total = left.sum()
        return some.decode(left.like(left.values / np.where(total > 0, total, 1.0)[left.row_of_value]))
