"""Every family of transformers either keeps all contracts of a subject or is refused with the reason."""

import copy
from typing import Any

import numpy as np
import pytest
import torch

from heedful.adapters import changes
from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.subject import Padded, padded
from heedful.errors import BadInput
from tests.adapters.tiny import FAMILIES, REFUSED, TEXTS, UNUSUAL, classifier, word_pieces

KINDS = [*FAMILIES, *UNUSUAL, "modernbert mean", "gpt2 without padding token"]
OPTIONS: dict[str, dict[str, Any]] = {
    "modernbert mean": {"classifier_pooling": "mean"},
    "gpt2 without padding token": {"pad_token_id": None},
}
LAST = ["gpt2", "llama", *UNUSUAL, "gpt2 without padding token"]
POOLING = dict.fromkeys(KINDS, "first") | dict.fromkeys(LAST, "last") | {"modernbert mean": "all"}


def made(kind: str, **options: Any) -> HuggingFace:
    model = classifier(kind.split(maxsplit=1)[0], **OPTIONS.get(kind, {}))
    return HuggingFace(model, word_pieces(), **options)


def reversal(batch: Padded) -> changes.Change:
    """Each text's items in the opposite order; cells beyond a text keep their place."""
    places = torch.arange(batch.items)[None]
    return changes.permuted((batch.lengths[:, None] - 1 - places).where(batch.mask, places))


def state(model: Any) -> list[Any]:
    """All that an audit might leave behind."""
    modules = list(model.modules())
    return [
        [module.training for module in modules],
        [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in modules],
        [copy.deepcopy(vars(module.config)) for module in modules if hasattr(module, "config")],
        [(name, parameter.requires_grad, parameter.grad) for name, parameter in model.named_parameters()],
        {name: value.clone() for name, value in model.state_dict().items()},
    ]


@pytest.mark.parametrize("kind", KINDS)
class TestContracts:
    def test_its_own_attention_put_in_again_gives_its_own_logits(self, kind: str) -> None:
        subject = made(kind)
        texts = subject.encode(TEXTS)
        found = subject.check(texts)
        assert found.identity <= 1e-5  # of logits of size one; relative to larger ones
        assert found.invariance <= 1e-5
        assert found.moved > 1e-3
        with torch.no_grad():
            tokens = torch.from_numpy(texts.tokens[2])[None]
            own = subject.model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits[0].numpy()
        apart = np.abs(subject.read(texts).logits[2] - own).max()
        assert apart <= 1e-5 * max(1, np.abs(own).max())
        np.testing.assert_array_equal(subject.original(padded(texts, np.arange(5)))[2].detach().numpy(), own)

    def test_rows_are_those_it_decides_from(self, kind: str) -> None:
        assert made(kind).pooling == POOLING[kind]

    @pytest.mark.parametrize("audited", ["cls", "rollout"])
    def test_no_text_is_read_otherwise_among_others(self, kind: str, audited: str) -> None:
        subject = made(kind, map=audited)
        texts = subject.encode(TEXTS)
        together = subject.read(texts, reversal)
        backwards = subject.read(texts.take([4, 3, 2, 1, 0]), reversal)
        for row in range(len(TEXTS)):
            alone = subject.read(texts.take([row]), reversal)
            for seen, place in ((together, row), (backwards, 4 - row)):
                np.testing.assert_allclose(seen.logits[place], alone.logits[0], atol=2e-5)
                np.testing.assert_allclose(seen.weights[place], alone.weights[0], atol=1e-5)
                np.testing.assert_allclose(seen.aside[place], alone.aside[0], atol=1e-5)
                np.testing.assert_allclose(seen.weights[place].sum(), 1, atol=1e-5)

    @pytest.mark.parametrize("audited", ["cls", "layer:0", "layer:1,head:2", "rollout", "norm"])
    def test_changes_reach_the_decision(self, kind: str, audited: str) -> None:
        subject = made(kind, map=audited)
        texts = subject.encode(TEXTS)
        plain, turned = subject.read(texts), subject.read(texts, reversal)
        assert np.abs(plain.logits[2] - turned.logits[2]).max() > 1e-3
        if audited not in ("norm", "rollout"):  # those are made of more than the weights that were changed
            np.testing.assert_allclose(turned.weights[3], plain.weights[3][::-1], atol=1e-5)
            np.testing.assert_allclose(turned.aside, plain.aside, atol=1e-5)

    @pytest.mark.parametrize("training", [False, True])
    def test_it_is_left_as_found(self, kind: str, training: bool) -> None:
        model = classifier(kind.split(maxsplit=1)[0], **OPTIONS.get(kind, {}))
        inputs = {"input_ids": torch.tensor([[2, 5, 9, 7, 3]])}
        before = model(**inputs).logits
        model.train(training)
        next(iter(model.parameters())).requires_grad_(False)
        found = state(model)
        subject = HuggingFace(model, word_pieces(), map="norm")
        texts = subject.encode(TEXTS)
        subject.check(texts)
        for batch in subject.differentiable(texts, attention_fixed=False):
            outcome = batch.read()
            outcome.product(torch.ones_like(outcome.logits))

        def fail(*_: object) -> torch.Tensor:
            raise RuntimeError("in the middle of a reading")

        for options in ({"change": fail}, {"embed": fail}):
            with pytest.raises(RuntimeError, match="in the middle"):
                subject.forward(padded(texts, np.arange(3)), **options)
        for old, new in zip(found, state(model), strict=True):
            if isinstance(old, dict):
                assert old.keys() == new.keys()
                assert all(torch.equal(old[name], new[name]) for name in old)
            else:
                assert old == new
        assert torch.equal(model.eval()(**inputs).logits, before)

    def test_dropout_is_off(self, kind: str) -> None:
        subject = made(kind)
        subject.model.train()
        texts = subject.encode(TEXTS)
        assert np.array_equal(subject.read(texts).logits, subject.read(texts).logits)


@pytest.mark.parametrize("family", REFUSED)
def test_families_that_would_ignore_changes_are_refused(family: str) -> None:
    model = classifier(family)
    found = state(model)
    with pytest.raises(
        BadInput, match="of its 3 layers, 0 computed attention through transformers' AttentionInterface"
    ):
        HuggingFace(model, word_pieces())
    assert [old for old in found if isinstance(old, list)] == [new for new in state(model) if isinstance(new, list)]


@pytest.mark.parametrize("audited", ["cls", "rollout", "norm"])
def test_double_precision_is_read_alike(audited: str) -> None:
    single = made("modernbert mean", map=audited)
    double = HuggingFace(copy.deepcopy(single.model).double(), word_pieces(), map=audited)
    texts = single.encode(TEXTS)
    double.check(texts)
    np.testing.assert_allclose(double.read(texts).logits, single.read(texts).logits, atol=1e-4)


def test_it_can_be_made_where_nothing_is_recorded() -> None:
    model = classifier("bert")
    with torch.inference_mode():
        assert HuggingFace(model, word_pieces()).pooling == "first"


def test_texts_of_nothing_are_read() -> None:
    subject = made("gpt2")
    texts = subject.encode(TEXTS)
    erased = texts.keep(np.zeros(len(texts.names.values), dtype=bool))
    seen = subject.read(erased)
    assert np.isfinite(seen.logits).all()
    assert len(seen.weights.values) == 0
    batch = padded(erased, np.arange(2))
    real = batch.real.clone()
    subject.forward(batch)
    assert torch.equal(batch.real, real)
