"""Texts read on from a kept beginning have the logits of texts read as a whole."""

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.adapters import hardware
from heedful.adapters.checking import check
from heedful.adapters.huggingface import HuggingFace, prefix
from heedful.adapters.subject import padded
from heedful.adapters.texts import Texts, each_token_an_item
from heedful.adapters.variants import read_from, read_variants, shared_prefixes
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.audits.battery.test import Counted
from heedful.importance.leave_one_out import leave_one_out
from heedful.ragged import Ragged
from tests.adapters.test_huggingface import KINDS, LAST, made, state
from tests.adapters.tiny import TEXTS, word_pieces

subject_of = cache(made)


def plainly_shared(text: list[int], variant: list[int]) -> int:
    shared = 0
    while shared < min(len(text), len(variant) - 1) and text[shared] == variant[shared]:
        shared += 1
    return shared


def tokens_of(rows: list[list[int]]) -> Texts:
    tokens = Ragged.from_rows(rows, dtype=np.int64)
    return each_token_an_item(tokens, tokens.like(tokens.values.astype(str).astype(object)))


def erased_at_random(texts: Texts, blank: int | None, seed: int) -> tuple[np.ndarray, Texts]:
    """Texts in any order and number without some of their items: often few, sometimes all or none."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, len(texts), size=int(draw.integers(1, 12)))
    copies = texts.take(rows)
    share = draw.choice([0, 0.1, 0.3, 0.9, 1], size=len(rows))
    gone = draw.random(len(copies.names.values)) < share[copies.names.row_of_value]
    return rows, copies.keep(~gone) if blank is None else copies.replaced(gone, blank)


def assert_same(read: np.ndarray, whole: np.ndarray) -> None:
    np.testing.assert_allclose(read, whole, rtol=0, atol=1e-5 * max(1, np.abs(whole).max()))


def assert_read_alike(subject: HuggingFace, texts: Texts, rows: np.ndarray, variants: Texts) -> None:
    start = shared_prefixes(texts, rows, variants)
    assert_same(read_from(subject, texts, rows, variants, start), subject.read(variants).logits)


@given(st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=4), st.data())
def test_prefixes_are_those_of_a_plain_version(texts: list[list[int]], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=6))
    variants = [data.draw(st.lists(st.integers(0, 2), max_size=7)) for _ in rows]
    found = shared_prefixes(tokens_of(texts), np.array(rows, dtype=np.int64), tokens_of(variants))
    plain = [plainly_shared(texts[row], variant) for row, variant in zip(rows, variants, strict=True)]
    assert found.tolist() == plain


@pytest.mark.parametrize("blank", [None, 1])
@pytest.mark.parametrize("kind", LAST)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1 << 16))
def test_whatever_is_erased_is_read_alike(kind: str, blank: int | None, seed: int) -> None:
    subject = subject_of(kind)
    texts = subject.encode(TEXTS)
    rows, variants = erased_at_random(texts, blank, seed)
    assert_read_alike(subject, texts, rows, variants)
    assert_same(read_variants(subject, texts, rows, variants), subject.read(variants).logits)


@pytest.mark.parametrize("kind", LAST)
def test_batches_and_order_make_no_difference(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = subject_of(kind)
    texts = subject.encode(TEXTS)
    rows, variants = erased_at_random(texts, None, 3)
    start = shared_prefixes(texts, rows, variants)
    together = read_from(subject, texts, rows, variants, start)
    order = np.arange(len(rows))[::-1]
    backwards = read_from(subject, texts, rows[order], variants.take(order), start[order])
    assert_same(backwards[order], together)
    monkeypatch.setattr(hardware, "MOST", 1)
    assert_same(read_from(subject, texts, rows, variants, start), together)


@pytest.mark.parametrize("kind", LAST)
def test_leave_one_out_is_that_of_whole_readings(kind: str) -> None:
    subject = made(kind)
    texts = subject.encode(TEXTS)
    seen = subject.read(texts)
    resumed = leave_one_out(SubjectTexts(subject, texts, seen)).values.values
    subject.resumes = False
    np.testing.assert_allclose(resumed, leave_one_out(SubjectTexts(subject, texts, seen)).values.values, atol=1e-5)


@pytest.mark.parametrize("kind", LAST)
def test_padding_tokens_inside_a_text_are_not_what_is_decided_from(kind: str) -> None:
    texts = tokens_of([[5, 9, 7, 8, 0, 0], [0, 0, 0], [6, 0, 5, 0]])
    rows = np.repeat(np.arange(3), [3, 1, 2])
    variants = tokens_of([[5, 9, 7, 0, 0], [5, 9, 7, 8, 0], [9, 7, 8, 0, 0], [0, 0], [6, 0, 0], [6, 0, 5, 0]])
    assert_read_alike(subject_of(kind), texts, rows, variants)


@pytest.mark.parametrize("kind", LAST)
def test_texts_with_nothing_left_are_read_alike(kind: str) -> None:
    texts = tokens_of([[5], [], [6, 7, 8]])
    variants = tokens_of([[], [], [], [6, 7], [6]])
    assert_read_alike(subject_of(kind), texts, np.array([0, 1, 2, 2, 2]), variants)


def test_padding_far_behind_a_window_is_a_number_in_double_precision() -> None:
    subject = HuggingFace(copy.deepcopy(subject_of("gemma2").model).double(), word_pieces())
    texts = tokens_of([[5, 6, 7, 8], [5, *range(6, 25)]])
    variants = tokens_of([[5, 6, 8], [5, 6, 7], [5, *range(7, 25)]])
    assert_read_alike(subject, texts, np.array([0, 0, 1]), variants)


@pytest.mark.parametrize("kind", KINDS)
def test_the_contract_says_who_keeps_beginnings(kind: str) -> None:
    subject = made(kind)
    texts = subject.encode(TEXTS)
    kept = subject.check(texts).prefix
    assert (kept is not None) == (kind in LAST)
    assert kept is None or kept <= 1e-5
    assert (subject.begin(padded(texts, np.arange(2))) is not None) == (kind in LAST)


@pytest.mark.parametrize("wrong", ["other", "fails"])
def test_a_model_that_reads_otherwise_is_read_as_a_whole(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = made("llama")
    texts = subject.encode(TEXTS)
    own = prefix.resume

    def resume(*given: Any) -> torch.Tensor:
        if wrong == "fails":
            raise AttributeError("of a cache of another version")
        return own(*given) + 1e-3

    monkeypatch.setattr(prefix, "resume", resume)
    assert not check(subject, texts).resumes
    assert subject.begin(padded(texts, np.arange(2))) is None
    rows, variants = erased_at_random(texts, None, 3)
    np.testing.assert_array_equal(read_variants(subject, texts, rows, variants), subject.read(variants).logits)


def test_a_model_that_looks_ahead_is_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = made("gpt2")
    texts = subject.encode(TEXTS)
    assert subject.check(texts).resumes
    embeddings, own = subject.embeddings, subject.embeddings.forward

    def ahead(tokens: torch.Tensor) -> torch.Tensor:
        vectors = own(tokens)
        return vectors + 0.1 * (vectors * (tokens != 0)[..., None]).sum(dim=1, keepdim=True)

    monkeypatch.setattr(embeddings, "forward", ahead)
    assert not subject.check(texts).resumes
    assert not subject.resumes


@pytest.mark.parametrize("kind", ["gpt2 without padding token", "gemma2"])
@pytest.mark.parametrize("training", [False, True])
def test_it_is_left_as_found(kind: str, training: bool) -> None:
    subject = made(kind)
    model = subject.model.train(training)
    texts = subject.encode(TEXTS)
    before = state(model)
    rows, variants = erased_at_random(texts, None, 3)
    assert_read_alike(subject, texts, rows, variants)

    def fail(*_: object) -> None:
        raise RuntimeError("in the middle of a reading")

    begun = subject.begin(padded(texts, np.arange(2)))
    assert begun is not None
    handle = model.score.register_forward_hook(fail)
    for read in (
        lambda: subject.begin(padded(texts, np.arange(2))),
        lambda: subject.resume(padded(texts, np.arange(2)), begun, 1),
    ):
        with pytest.raises(RuntimeError, match="in the middle"):
            read()
    handle.remove()
    after = state(model)
    assert before[:4] == after[:4]
    assert all(torch.equal(value, after[4][name]) for name, value in before[4].items())


def test_readings_are_counted() -> None:
    """Beginnings as whole readings, what goes on from them as replays; a beginning that spares little is not kept."""
    counts = {False: 0, True: 0}

    def count(readings: int, replay: bool) -> None:
        counts[replay] += readings

    subject = made("llama")
    texts = subject.encode(TEXTS).take([2, 3])
    counted = Counted(subject, count)
    rows = np.repeat(np.arange(2), texts.lengths)
    copies = texts.take(rows)
    gone = (
        copies.names.place_in_row
        == np.concatenate([np.arange(length) for length in texts.lengths])[copies.names.row_of_value]
    )
    read_variants(counted, texts, rows, copies.keep(~gone))
    assert counts == {False: 2, True: len(rows)}  # a token before the first item is kept of each
    rows = np.arange(2)
    first = texts.names.place_in_row == 0
    counts.update({False: 0, True: 0})
    read_variants(counted, texts, rows, texts.keep(~first))
    assert counts == {False: 2, True: 0}
