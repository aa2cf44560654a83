import numpy as np
import pytest
import torch

from heedful.adapters import subject as subject_module
from heedful.adapters.changes import permuted
from heedful.adapters.subject import padded
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.importance.gradient import gradient
from heedful.importance.integrated_gradients import integrated_gradients
from tests.adapters.small import Small, numbers, subject_of

TEXTS = ["3 4 5", "7", "", "6 5 4 3 8 9 10", "11 12", "13 4 13 4 5", "19 18 17 16 15 14 13 12 11"]


@pytest.mark.parametrize("form", ["flat", "heads", "queries"])
def test_what_is_read_does_not_depend_on_the_memory_at_hand(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = subject_of(Small(form))
    texts = subject.encode(TEXTS)

    def backwards(batch: subject_module.Padded) -> subject_module.Change:
        return permuted((batch.lengths[:, None] - 1 - torch.arange(batch.items)).where(batch.mask, 0))

    many = [subject.read(texts), subject.read(texts, backwards)]
    sizes = [len(batch.rows) for batch in subject.batches(texts)]
    monkeypatch.setattr(subject_module, "batch_memory", lambda device: 1)
    one = [subject.read(texts), subject.read(texts, backwards)]
    assert max(sizes) > 1
    assert [len(batch.rows) for batch in subject.batches(texts)] == [1] * len(texts)
    for mine, theirs in zip(many, one, strict=True):
        assert np.allclose(mine.logits, theirs.logits, atol=1e-6)
        assert np.allclose(mine.weights.values, theirs.weights.values, atol=1e-6)
        assert np.allclose(mine.aside, theirs.aside, atol=1e-6)
    assert np.abs(many[0].logits - many[1].logits).max() > 1e-3


def test_more_memory_is_told_for_longer_texts_and_gradients() -> None:
    subject = subject_of(Small())
    assert 0 < subject.bytes_of(10, gradient=False) < subject.bytes_of(20, gradient=False)
    assert subject.bytes_of(10, gradient=False) < subject.bytes_of(10, gradient=True)


def framed(text: str) -> tuple[list[int], list[str | None]]:
    return [1, *numbers(text), 2], [None, *text.split(), None]


@pytest.mark.parametrize("attention_fixed", [True, False])
@pytest.mark.parametrize("tokenize", [numbers, framed])
def test_gradients_are_those_of_plain_autograd(attention_fixed: bool, tokenize: object) -> None:
    model = Small(bend=torch.tanh)
    subject = subject_of(model, tokenize=tokenize)
    texts = subject.encode(TEXTS)
    values = gradient(SubjectTexts(subject, texts, subject.read(texts)), attention_fixed=attention_fixed)
    model.eval()
    for row in np.flatnonzero(texts.lengths):
        batch = padded(texts, np.array([row]))
        vectors = model.embedding(batch.tokens).detach().requires_grad_()
        before = torch.nn.functional.pad(vectors, (0, 0, 1, 0))[:, :-1]
        states = torch.tanh(model.mix(vectors + before))
        weights = model.attention(states, batch.real)[:, None]
        output = model.decide(weights.detach() if attention_fixed else weights, states).softmax(dim=-1)
        for which in range(2):
            slope = torch.autograd.grad(output[0, which], vectors, retain_graph=True)[0]
            plain = (slope * vectors).sum(dim=-1)[batch.item >= 0].abs().detach().numpy()
            assert np.allclose(values[row][:, which], plain, atol=1e-6)


def test_integrals_add_up_to_what_the_text_adds() -> None:
    model = Small(outputs=1)
    subject = subject_of(model, output="sigmoid", tokenize=framed)
    texts = subject.encode(TEXTS)
    integral = integrated_gradients(SubjectTexts(subject, texts, subject.read(texts)), tolerance=1e-4)
    with torch.no_grad():
        batch = padded(texts, np.arange(len(texts)))

        def baseline(vectors: torch.Tensor) -> torch.Tensor:
            return vectors * (batch.item < 0)[..., None]

        gain = subject.forward(batch).logits.sigmoid() - subject.forward(batch, embed=baseline).logits.sigmoid()
    assert np.allclose(integral.values.sum(), gain[:, 0].numpy(), atol=2e-4)
    assert np.abs(gain.numpy()).max() > 0.01
