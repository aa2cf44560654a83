"""captum as the oracle: integrated gradients, and the output's fall when an item is blanked."""

import numpy as np
import pytest
import torch
from torch import Tensor

from heedful.adapters.subject import Padded, padded
from heedful.adapters.texts import NO_ITEM
from heedful.audits.battery import BATTERY
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.importance.table import attributions
from tests.audits.battery.subjects import BLANK, Small, make_texts, named

attr = pytest.importorskip("captum.attr")


def repeated(batch: Padded, count: int) -> Padded:
    return batch.take(torch.zeros(count, dtype=torch.int64))


def test_integrated_gradients() -> None:
    subject, texts = Small(outputs=3, heads=2), make_texts([5, 1, 7], framed=True, pieces=True)
    seen = subject.read(texts)
    ours = attributions(SubjectTexts(subject, texts, seen), names=["integrated_gradients"], tolerance=1e-5)[
        "integrated_gradients"
    ]
    for row in range(len(texts)):
        batch = padded(texts, np.array([row]))

        def output(vectors: Tensor, batch: Padded = batch) -> Tensor:
            return subject.forward(repeated(batch, len(vectors)), embed=lambda _: vectors).logits.softmax(dim=1)

        vectors = subject.table[batch.tokens]
        baseline = vectors.where((batch.item == NO_ITEM)[..., None], 0.0)
        method = attr.IntegratedGradients(output)
        found = method.attribute(vectors, baseline, target=int(seen.logits[row].argmax()), n_steps=200)[0].sum(dim=1)
        merged = [float(found[batch.item[0] == item].sum()) for item in range(batch.items)]
        assert ours[row] == pytest.approx(merged, abs=1e-4)


def test_leave_one_out_by_blank() -> None:
    subject, texts = Small(outputs=2, heads=2), make_texts([5, 1, 7], framed=True, pieces=True)
    seen = subject.read(texts)
    frame = BATTERY["importance"].perform(subject, named(texts), texts, seen, measures=["leave_one_out_blank"])
    for row in range(len(texts)):
        batch = padded(texts, np.array([row]))

        def output(tokens: Tensor, batch: Padded = batch) -> Tensor:
            other = repeated(batch, len(tokens))
            return subject.forward(Padded(other.rows, tokens, other.real, other.item, other.lengths)).logits.softmax(1)

        found = attr.FeatureAblation(output).attribute(
            batch.tokens, BLANK, target=int(seen.logits[row].argmax()), feature_mask=batch.item + 1
        )[0]
        each = [abs(float(found[batch.item[0] == item][0])) for item in range(batch.items)]
        assert frame["values"][row].to_list() == pytest.approx(each, abs=1e-5)
