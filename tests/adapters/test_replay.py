"""Replays from the audited layer equal readings of the whole model: all families, maps, batches, orders and changes."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.adapters import changes, hardware
from heedful.adapters.checking import check
from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.huggingface.replay import KeptStates
from heedful.adapters.module import Module
from heedful.adapters.subject import Padded, Seen, Subject, padded
from tests.adapters.small import TEXTS as SMALL_TEXTS
from tests.adapters.small import Small, subject_of
from tests.adapters.test_huggingface import KINDS, made, reversal, state
from tests.adapters.tiny import TEXTS, classifier, word_pieces

MAPS = ["cls", "layer:1", "layer:-1,head:2", "layer:0"]
FORMS = ["flat", "heads", "queries"]


def assert_same(found: Seen, expected: Seen, rows: Any) -> None:
    size = max(1.0, float(np.abs(expected.logits).max()))
    np.testing.assert_allclose(found.logits, expected.logits[rows], atol=1e-5 * size)
    np.testing.assert_allclose(found.weights.values, expected.weights.take(rows).values, atol=1e-5)
    np.testing.assert_allclose(found.aside, expected.aside[rows], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("map_", MAPS)
def test_every_family_and_map(kind: str, map_: str) -> None:
    subject = made(kind, map=map_)
    texts = subject.encode(TEXTS)
    subject.check(texts)
    all_rows_of_the_first_layer = map_ == "layer:0"
    assert subject.replays == (not all_rows_of_the_first_layer)  # nothing comes before it
    seen, whole = subject.read_and_keep(texts), subject.read(texts)
    every = np.arange(len(texts))
    assert_same(seen, whole, every)
    rows = np.array([4, 0, 3, 3, 2, 1, 0])
    assert_same(subject.read_changed(texts, rows, seen, reversal), subject.read(texts, reversal), rows)


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_classifying_row_of_the_last_layer_goes_on(kind: str) -> None:
    subject = made(kind)
    states = subject.prepare(padded(subject.encode(TEXTS), np.arange(len(TEXTS))))
    assert isinstance(states, KeptStates)
    assert (states.hidden.shape[1] == 1) == (subject.pooling != "all")


@pytest.mark.parametrize("kind", ["bert", "albert", "gpt2", "modernbert", "modernbert mean"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_change_of_any_texts_in_any_batches(kind: str, data: st.DataObject) -> None:
    subject = made(kind, map=data.draw(st.sampled_from(["cls", "layer:1", "layer:-1,head:0"])))
    texts = subject.encode(TEXTS)
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=6)))
    seed = data.draw(st.integers(0, 1000))
    drawn = torch.rand(len(rows), int(texts.lengths.max()), generator=torch.Generator().manual_seed(seed))
    how = data.draw(st.sampled_from(["assigned", "without", "tilted"]))

    def changed(batch: Padded, places: Any) -> changes.Change:
        values = drawn[places, : batch.items] * batch.mask
        if how == "without":
            return changes.without(values > 0.4)
        return changes.assigned(changes.normalised(values)) if how == "assigned" else changes.tilted(9 * values)

    batch_bytes = data.draw(st.sampled_from([1, 1 << 15, 1 << 26]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hardware, "MOST", batch_bytes)
        seen = subject.read_and_keep(texts)
        replayed = subject.read_changed(texts, rows, seen, lambda batch: changed(batch, batch.rows))
    for place, row in enumerate(rows):
        alone = subject.read(texts.take([row]), lambda batch, place=place: changed(batch, [place]))
        np.testing.assert_allclose(replayed.logits[place], alone.logits[0], atol=2e-5)
        np.testing.assert_allclose(replayed.weights[place], alone.weights[0], atol=2e-5)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "llama", "modernbert mean"])
def test_gradients_are_those_of_the_whole_model(kind: str) -> None:
    subject = made(kind)
    batch = padded(subject.encode(TEXTS), np.arange(len(TEXTS)))
    states = subject.prepare(batch)
    assert states is not None

    def slope(replay: bool) -> torch.Tensor:
        slopes = torch.linspace(-1, 1, batch.items).expand(len(TEXTS), -1).clone().requires_grad_()
        change = changes.tilted(slopes)
        reading = subject.replay(batch, states, change) if replay else subject.forward(batch, change=change)
        (gradient,) = torch.autograd.grad(reading.logits[:, 0].sum() + reading.weights[:, 0].sum(), slopes)
        return gradient

    torch.testing.assert_close(slope(replay=True), slope(replay=False), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_modules(form: str) -> None:
    subject = subject_of(Small(form))
    texts = subject.encode(SMALL_TEXTS)
    contract = check(subject, texts)
    assert contract.replays
    assert contract.replay is not None
    rows = np.array([2, 0, 1, 1, 0])
    seen = subject.read_and_keep(texts)
    assert_same(subject.read_changed(texts, rows, seen, reversal), subject.read(texts, reversal), rows)


def test_what_comes_before_attention_is_not_computed_again() -> None:
    subject = subject_of(Small("flat"))
    batch = padded(subject.encode(SMALL_TEXTS), np.arange(len(SMALL_TEXTS)))
    states = subject.prepare(batch)
    assert states is not None
    calls: list[str] = []
    own = {name: module.forward for name, module in subject.model.named_children()}
    for name, module in subject.model.named_children():
        module.forward = lambda *args, name=name: (calls.append(name), own[name](*args))[1]
    subject.forward(batch, change=reversal(batch))
    whole, calls[:] = list(calls), []
    subject.replay(batch, states, reversal(batch))
    assert whole == ["embedding", "mix", "dropout", "attention", "head"]
    assert calls == ["attention", "head"]


class Impatient(HuggingFace):
    """Replays slightly wrong numbers."""

    def replay(self, *args: Any) -> Any:
        reading = super().replay(*args)
        return reading._replace(logits=reading.logits + 1e-3)


class Failing(HuggingFace):
    """Cannot be replayed."""

    def replay(self, *args: Any) -> Any:
        raise RuntimeError("no such layer")


@pytest.mark.parametrize("kind", [Impatient, Failing])
def test_a_replay_that_is_not_exact_is_not_used(kind: type[HuggingFace]) -> None:
    subject = kind(classifier("bert"), word_pieces())
    texts = subject.encode(TEXTS)
    contract = subject.check(texts)
    assert not contract.replays
    assert contract.replay is None if kind is Failing else contract.replay == pytest.approx(1e-3, rel=0.5)
    seen = subject.read_and_keep(texts)
    assert all(kept.states is None for kept in seen.kept)
    rows = np.arange(len(texts))
    assert_same(subject.read_changed(texts, rows, seen, reversal), subject.read(texts, reversal), rows)


@pytest.mark.parametrize("kind", ["bert", "albert", "gpt2"])
def test_the_model_is_left_as_it_was(kind: str) -> None:
    subject = made(kind)
    batch = padded(subject.encode(TEXTS), np.arange(len(TEXTS)))
    before, forwards = state(subject.model), [vars(module).get("forward") for module in subject.model.modules()]
    states = subject.prepare(batch)
    assert states is not None
    subject.replay(batch, states, reversal(batch))

    def failing(shares: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        subject.replay(batch, states, failing)
    assert str(state(subject.model)) == str(before)
    assert [vars(module).get("forward") for module in subject.model.modules()] == forwards


def test_states_of_another_kind_of_model_are_refused() -> None:
    transformer, module = made("bert"), subject_of(Small("flat"))
    batch = padded(transformer.encode(TEXTS), np.arange(2))
    other = padded(module.encode(SMALL_TEXTS), np.arange(2))
    for subject, mine, theirs in (
        (transformer, batch, module.prepare(other)),
        (module, other, transformer.prepare(batch)),
    ):
        assert isinstance(subject, Subject | Module)
        with pytest.raises(TypeError, match="states of another model"):
            subject.replay(mine, theirs, reversal(mine))
