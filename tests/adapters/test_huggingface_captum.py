"""Importance through a transformer against captum's, at the same embeddings.

The baseline is captum's embedding of the padding token, a zero vector here, at the items only. Gradient x input agrees
to 1e-5 and integrated gradients to 1e-3, the tolerance that heedful's integral is given. ModernBERT is left out of the
latter: it normalises embeddings before all else, so that nearly all of the way's change lies next to the baseline.
"""

import numpy as np
import pytest
import torch
from captum.attr import LayerGradientXActivation, LayerIntegratedGradients
from torch import Tensor

from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.texts import Texts
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.importance.gradient import gradient_input
from heedful.importance.integrated_gradients import integrated_gradients
from tests.adapters.tiny import TEXTS, classifier, word_pieces

STEPS = 200


class Captum:
    """The decided class's probability of one text, as captum explains it."""

    def __init__(self, subject: HuggingFace, texts: Texts, row: int) -> None:
        self.model, self.layer = subject.model, subject.model.get_input_embeddings()
        self.tokens, self.item = torch.tensor(texts.tokens[row])[None], texts.item[row]
        self.decided = int(self.probabilities(self.tokens).argmax())

    def probabilities(self, tokens: Tensor) -> Tensor:
        return self.model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits.softmax(dim=1)

    def of_items(self, attribution: Tensor) -> np.ndarray:
        inside = self.item >= 0
        return np.bincount(self.item[inside], attribution[0].sum(dim=-1).detach().numpy()[inside])

    def gradient_input(self) -> np.ndarray:
        method = LayerGradientXActivation(self.probabilities, self.layer)
        return self.of_items(method.attribute(self.tokens, target=self.decided))

    def integrated_gradients(self) -> np.ndarray:
        baseline = self.tokens.where(torch.from_numpy(self.item < 0), 0)
        method = LayerIntegratedGradients(self.probabilities, self.layer)
        return self.of_items(method.attribute(self.tokens, baseline, target=self.decided, n_steps=STEPS))


def made(family: str) -> HuggingFace:
    model = classifier(family)
    with torch.no_grad():
        model.get_input_embeddings().weight[0] = 0.0
    return HuggingFace(model, word_pieces(), items="words")


@pytest.mark.parametrize("family", ["bert", "modernbert", "gpt2"])
def test_gradients(family: str) -> None:
    subject = made(family)
    texts = subject.encode(TEXTS)
    ours = gradient_input(SubjectTexts(subject, texts, subject.read(texts)))
    for row in range(len(TEXTS)):
        np.testing.assert_allclose(ours[row], Captum(subject, texts, row).gradient_input(), atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_integrated_gradients(family: str) -> None:
    subject = made(family)
    texts = subject.encode(TEXTS[:3])
    ours = integrated_gradients(SubjectTexts(subject, texts, subject.read(texts)), tolerance=1e-3, limit=20_000)
    assert ours.error.max() <= 1e-3
    for row in range(len(texts)):
        np.testing.assert_allclose(ours.values[row], Captum(subject, texts, row).integrated_gradients(), atol=1e-3)
