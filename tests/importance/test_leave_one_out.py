"""Every fast form of leave-one-out against deletion itself: take the token out, read what is left."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from heedful.importance import deletion as module
from heedful.importance.classifier_texts import ClassifierTexts
from heedful.importance.deletion import deletions
from heedful.importance.fast import deletion_bilstm
from heedful.importance.fast import deletion_windows as deletion_band
from heedful.importance.fast.forms import FORMS, forms_of
from heedful.importance.leave_one_out import leave_one_out
from heedful.importance.table import importance_table
from heedful.measures import tvd
from heedful.models.attentions import Additive, Query
from heedful.models.batches import Inputs, Padded, Texts
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import ENCODERS, BiGRU, BiLSTM
from heedful.models.inference import predict
from heedful.models.options import ATTENTIONS, BiLSTMOptions, CNNOptions
from heedful.ragged import Ragged
from tests.models.making import WORDS, make_inputs, make_model, make_tokens
from tests.strategies import examples

EVERY_MODEL = list(product(ENCODERS, ATTENTIONS, [1, 3]))
EVERY_READER = list(product(ENCODERS, ATTENTIONS))
sizes = st.lists(st.sampled_from([1, 2, 3, 4, 7, 12]), min_size=1, max_size=5)
seeds = st.integers(0, 1000)


def naive(model: Classifier, inputs: Inputs) -> NDArray[np.float32]:
    """The outputs (N, K) with each token deleted, one reading each."""
    outputs = []
    for index, row in enumerate(inputs.tokens):
        alone = inputs.take(np.array([index]))
        for position in range(len(row)):
            shorter = np.delete(row, position)
            if len(shorter):
                outputs.append(predict(model, replace(alone, tokens=Ragged.from_rows([shorter])))[0])
            else:
                with torch.no_grad():
                    logits = model.decoder(model.embedding.new_zeros(1, model.encoder.size), model.query(alone))
                outputs.append(output_of(logits)[0].numpy())
    return np.array(outputs)


def check(model: Classifier, texts: Texts) -> None:
    inputs = Inputs.of(texts)
    tokens, expected = inputs.tokens, naive(model, inputs)
    without = deletions(model, inputs).without
    assert without.values.dtype == np.float32
    assert np.array_equal(without.offsets, tokens.offsets)
    assert np.abs(without.values - expected).max() < 1e-5
    importance = leave_one_out(ClassifierTexts(model, inputs)).values
    whole = np.repeat(predict(model, inputs), tokens.lengths, axis=0)
    assert importance.values.dtype == np.float32
    assert np.array_equal(importance.offsets, tokens.offsets)
    assert np.abs(importance.values - tvd(whole, expected)).max() < 1e-5


def roughened(model: Classifier, factor: float = 3.0) -> Classifier:
    """The model with larger parameters, so that gates, states and outputs vary widely."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name != "embedding":
                parameter.mul_(factor)
    return model


def sharpened(model: Classifier, factor: float) -> Classifier:
    """The model with peaked attention."""
    with torch.no_grad():
        model.attention.get_parameter("score.weight").mul_(factor)
    return model


def test_every_encoder_has_a_form() -> None:
    assert set(ENCODERS.values()) - set(FORMS) == {BiGRU}  # read plainly
    assert forms_of(make_model("bilstm")).deletions is not None
    assert forms_of(make_model("bilstm", kind="flan")).deletions is None  # the form needs sentinels


@pytest.mark.parametrize(("encoder", "attention", "outputs"), EVERY_MODEL)
@given(sizes=sizes, seed=seeds)
@examples(6)
def test_equals_deletion(encoder: str, attention: str, outputs: int, sizes: list[int], seed: int) -> None:
    model, tokens = make_model(encoder, attention, outputs=outputs, seed=seed), make_tokens(sizes, seed)
    check(model, tokens)
    check(roughened(model), tokens)


@pytest.mark.parametrize(("encoder", "attention"), EVERY_READER)
@given(sizes=sizes, seed=seeds, candidates=st.booleans())
@examples(6)
def test_equals_deletion_given_a_query(
    encoder: str, attention: str, sizes: list[int], seed: int, candidates: bool
) -> None:
    model = make_model(encoder, attention, outputs=5, seed=seed, query=True)
    inputs = make_inputs(sizes, seed, query=True, outputs=5, candidates=candidates)
    check(model, inputs)
    check(roughened(model), inputs)


@pytest.mark.parametrize(("encoder", "attention"), EVERY_READER)
@given(seed=seeds)
@examples(4)
def test_peaked_attention(encoder: str, attention: str, seed: int) -> None:
    tokens = make_tokens([2, 9, 1, 5], seed)
    check(sharpened(make_model(encoder, attention, seed=seed), 50.0), tokens)
    check(sharpened(make_model(encoder, attention, seed=seed).double(), 1e4), tokens)  # weights underflow


@pytest.mark.parametrize("kernels", [(1,), (9,), (15, 3)])
@given(sizes=sizes)
@examples(5)
def test_kernels_larger_than_the_text(kernels: tuple[int, ...], sizes: list[int]) -> None:
    model = Classifier(
        embedding=np.random.default_rng(0).standard_normal((WORDS, 5)).astype(np.float32),
        encoder="cnn",
        encoder_options=CNNOptions(filters=3, kernels=kernels),
        attention="additive",
        outputs=1,
        seed=0,
    )
    check(roughened(model), make_tokens(sizes))


@pytest.mark.parametrize(("encoder", "attention"), EVERY_READER)
@pytest.mark.parametrize("query", [False, True])
def test_batches_blocks_and_order_make_no_difference(
    encoder: str, attention: str, query: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(encoder, attention, outputs=3, query=query)
    inputs = make_inputs([7, 1, 13, 2, 8, 13, 9], query=query)
    together = deletions(model, inputs).without
    order = np.array([4, 2, 6, 0, 1, 5, 3])
    assert np.allclose(deletions(model, inputs.take(order)).without.values, together.take(order).values, atol=1e-6)
    monkeypatch.setattr(deletion_band, "BLOCK_CELLS", 40)
    for rows, cells, block in [(3, 1000, 7), (100, 1000, 1), (1, 1, 4), (2, 20, 5)]:
        monkeypatch.setattr(module, "BATCH_ROWS", rows)
        monkeypatch.setattr(module, "BATCH_CELLS", cells)
        monkeypatch.setattr(deletion_bilstm, "BLOCK_CELLS", 40 * block)
        monkeypatch.setattr(deletion_bilstm, "STEPS", block)
        monkeypatch.setattr(deletion_bilstm, "ENDED", block / 8)
        assert np.allclose(deletions(model, inputs).without.values, together.values, atol=1e-6)


class Summing(BiLSTM):
    """An encoder without a form of its own, though of a class that has one: states run into one another."""

    def forward(self, embedded: Padded) -> Padded:
        states = super().forward(embedded)
        return states.with_values(states.values.cumsum(1))


class Squared(Additive):
    """An attention of a class that is not known, though it is like one that is."""

    def scores(self, states: Tensor, query: Query) -> Tensor:
        return super().scores(states, query) + states.square().sum(-1)


@pytest.mark.parametrize("chunk", [1, 30, 1_000_000])
def test_an_encoder_without_a_form_reads_every_shortened_text(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_CELLS", chunk)
    model = make_model("bilstm", outputs=3)
    model.encoder = Summing(10, BiLSTMOptions(hidden=6))
    check(model, make_tokens([4, 1, 2, 9]))
    check(model, make_tokens([1]))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_an_attention_that_is_not_known(encoder: str) -> None:
    model = make_model(encoder)
    model.attention = Squared(model.encoder.size)
    check(roughened(model, 2.0), make_tokens([4, 1, 2, 9]))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_model_is_left_as_it_was(encoder: str) -> None:
    model = make_model(encoder)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    leave_one_out(ClassifierTexts(model, make_tokens([4, 1, 2])))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("encoder", ENCODERS)
def test_empty_texts_have_nothing_to_delete(encoder: str) -> None:
    model, tokens = make_model(encoder), make_tokens([0, 3, 0])
    assert np.allclose(
        leave_one_out(ClassifierTexts(model, tokens)).values.values,
        leave_one_out(ClassifierTexts(model, make_tokens([3]))).values.values,
        atol=1e-6,
    )
    assert len(leave_one_out(ClassifierTexts(model, make_tokens([0]))).values.values) == 0
    assert len(leave_one_out(ClassifierTexts(model, make_tokens([]))).values.values) == 0


@pytest.fixture
def _every_text_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains may stop in every text of two tokens or more, after every second step."""
    forms = FORMS[BiLSTM]
    assert forms.deletions is not None
    monkeypatch.setitem(FORMS, BiLSTM, forms._replace(deletions=forms.deletions._replace(long=2)))
    monkeypatch.setattr(deletion_bilstm, "STEPS", 2)


@pytest.mark.usefixtures("_every_text_is_long")
@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("query", [False, True])
@given(
    sizes=st.lists(st.sampled_from([1, 2, 5, 24, 40]), min_size=1, max_size=4),
    seed=seeds,
    tolerance=st.sampled_from([1e-7, 1e-4, 1e-2, 10.0]),
)
@examples(6)
def test_the_error_of_stopped_chains_is_stored(
    attention: str, query: bool, sizes: list[int], seed: int, tolerance: float
) -> None:
    model = make_model("bilstm", attention, outputs=3, seed=seed, query=query)
    inputs = make_inputs(sizes, seed, query=query, outputs=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SAMPLE", max(sizes))  # every token is compared
        found = deletions(model, inputs, tolerance=tolerance)
        measured = leave_one_out(ClassifierTexts(model, inputs, leave_one_out_tolerance=tolerance))
    exact, expected = deletions(model, inputs), naive(model, inputs)
    assert exact.error is None
    assert found.error is not None
    assert found.without.values.shape == exact.without.values.shape
    assert np.array_equal(found.without.offsets, exact.without.offsets)
    apart = inputs.tokens.like(tvd(found.without.values, expected))
    assert np.allclose(found.error, apart.max(), atol=1e-6)
    assert found.error.max() < 1e-5 + 10 * tolerance  # states that differ by so much lead to similar outputs
    whole = np.repeat(predict(model, inputs), inputs.tokens.lengths, axis=0)
    off = inputs.tokens.like(np.abs(measured.values.values - tvd(whole, expected)))
    assert measured.error is not None
    assert np.all(off.max() <= measured.error + 1e-5)


@pytest.mark.usefixtures("_every_text_is_long")
def test_chains_stop_whatever_the_batches_and_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    model, inputs = make_model("bilstm", outputs=3), make_inputs([30, 1, 44, 12, 44, 60], query=False)
    found = deletions(model, inputs, tolerance=1e-2)
    exact = deletions(model, inputs).without.values
    assert 1e-5 < np.abs(found.without.values - exact).max() < 1e-2  # chains do stop
    order = np.array([4, 2, 0, 1, 5, 3])
    shuffled = deletions(model, inputs.take(order), tolerance=1e-2)
    assert np.allclose(shuffled.without.values, found.without.take(order).values, atol=1e-6)
    assert found.error is not None
    assert shuffled.error is not None
    assert np.allclose(shuffled.error, found.error[order], atol=1e-6)
    monkeypatch.setattr(module, "BATCH_CELLS", 1)
    monkeypatch.setattr(deletion_bilstm, "BLOCK_CELLS", 300)
    assert np.allclose(deletions(model, inputs, tolerance=1e-2).without.values, found.without.values, atol=1e-6)


@pytest.mark.usefixtures("_every_text_is_long")
def test_the_table_holds_the_error() -> None:
    model, tokens, measures = make_model("bilstm"), make_tokens([9, 1, 30]), ["gradient", "leave_one_out"]
    exact = importance_table(model, list("abc"), tokens, measures=measures, tolerance=0.01)
    assert exact["error"].is_null().all()
    frame = importance_table(
        model, list("abc"), tokens, measures=measures, tolerance=0.01, leave_one_out_tolerance=0.01
    )
    found = frame.filter(measure="leave_one_out")["error"]
    assert found[1] == 0
    assert 0 < found[2] < 0.01
    assert frame.filter(measure="gradient")["error"].is_null().all()
    assert frame.drop("values", "error").equals(exact.drop("values", "error"))


def test_short_texts_and_other_encoders_stay_exact() -> None:
    tokens = make_tokens([40, 3])
    for encoder in ENCODERS:
        model = make_model(encoder)
        found = deletions(model, Inputs.of(tokens), tolerance=0.1)
        assert np.array_equal(found.without.values, deletions(model, Inputs.of(tokens)).without.values)
        assert found.error is not None
        assert not found.error.any()
