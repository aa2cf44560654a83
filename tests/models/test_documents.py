"""Flat and hierarchical models against the plainest way to compute them: one document, one sentence at a time."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from heedful.models import batches as grouping
from heedful.models.attentions import Query
from heedful.models.batches import Inputs, Padded
from heedful.models.classifier import Classifier
from heedful.models.documents import MODELS, Dropout, Han
from heedful.models.encoders import ENCODERS, BiGRU
from heedful.models.inference import decode, observe, predict
from heedful.models.options import ATTENTIONS, MODEL_NAMES, BiGRUOptions
from heedful.ragged import Ragged
from tests.models.making import make_documents, make_model, make_tokens
from tests.strategies import examples

EVERY_DOCUMENT_MODEL = list(product(("flan", "han"), ENCODERS, ATTENTIONS, (1, 4)))
documents = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=5), min_size=1, max_size=5)


def inputs_of(kind: str, sizes: list[list[int]]) -> Inputs:
    inputs = make_documents(sizes)
    return inputs if kind == "han" else Inputs(inputs.tokens)


def attended(encoder: nn.Module, attention: nn.Module, vectors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """States (T, H), weights (T,) and their product (H,) of one sequence (T, E) by itself."""
    states = encoder(Padded(vectors[None], torch.tensor([len(vectors)]))).values[0]
    weights = attention.scores(states[None], Query())[0].softmax(dim=0)
    return states, weights, weights @ states


def plain(model: Classifier, words: NDArray[np.int32], sentences: list[int]) -> tuple[Tensor, Tensor]:
    """Weights and logits of one document."""
    vectors = model.embedding[torch.from_numpy(words.astype(np.int64))]
    if isinstance(model, Han):
        parts = vectors.split(sentences)
        vectors = torch.stack([attended(model.word_encoder, model.word_attention, part)[2] for part in parts])
    _, weights, document = attended(model.encoder, model.attention, vectors)
    return weights, model.decoder(document[None], Query())[0]


def test_every_kind_has_its_name() -> None:
    assert tuple(MODELS) == MODEL_NAMES


@pytest.mark.parametrize(("kind", "encoder", "attention", "outputs"), EVERY_DOCUMENT_MODEL)
@given(sizes=documents)
@examples(8)
def test_equals_one_document_at_a_time(
    kind: str, encoder: str, attention: str, outputs: int, sizes: list[list[int]]
) -> None:
    model, inputs = make_model(encoder, attention, kind=kind, outputs=outputs).eval(), inputs_of(kind, sizes)
    decoded = decode(model, inputs)
    with torch.no_grad():
        for row, sentences in enumerate(sizes):
            weights, logits = plain(model, inputs.tokens[row], sentences)
            output = logits.sigmoid() if outputs == 1 else logits.softmax(dim=0)
            assert np.allclose(decoded.weights[row], weights, atol=1e-5)
            assert np.allclose(decoded.output[row], output, atol=1e-5)


def test_bigru_is_the_packed_bidirectional_gru() -> None:
    encoder, lengths = BiGRU(7, BiGRUOptions(hidden=5)), torch.tensor([4, 1, 6])
    whole = nn.GRU(7, 5, batch_first=True, bidirectional=True)
    for name, parameter in encoder.ahead.named_parameters():
        getattr(whole, name).data = parameter.data
        getattr(whole, f"{name}_reverse").data = getattr(encoder.back, name).data
    values = torch.randn(3, 6, 7)
    states, _ = pad_packed_sequence(
        whole(pack_padded_sequence(values, lengths, batch_first=True, enforce_sorted=False))[0], batch_first=True
    )
    ours = encoder(Padded(values, lengths))
    assert torch.allclose(ours.values[ours.mask], states[ours.mask], atol=1e-6)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("kind", ["flan", "han"])
def test_batch_size_and_order_make_no_difference(kind: str, encoder: str) -> None:
    model = make_model(encoder, kind=kind, outputs=3).eval()
    inputs = inputs_of(kind, [[3, 1, 8], [2], [5, 5, 1, 1, 9], [1], [4, 12]])
    together, order = decode(model, inputs), np.array([4, 2, 0, 1, 3])
    for rows in (1, 2, 3):
        apart = decode(model, inputs, batch_rows=rows)
        for one, other in zip(together[:2], apart[:2], strict=True):
            assert np.allclose(one.values, other.values, atol=1e-5)
    assert np.allclose(together.output[order], predict(model, inputs.take(order)), atol=1e-5)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_groups_make_no_difference(monkeypatch: pytest.MonkeyPatch, encoder: str) -> None:
    model, sizes = make_model(encoder, kind="han"), [[3, 1, 8], [2], [5, 5, 1, 1, 9]]
    whole = predict(model, make_documents(sizes))
    monkeypatch.setattr(grouping, "CELLS", 10)
    monkeypatch.setattr(grouping, "ALIKE", 5.0)
    assert np.allclose(predict(model, make_documents(sizes)), whole, atol=1e-5)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_empty_sentences_are_vectors_of_zeros(encoder: str) -> None:
    model = make_model(encoder, kind="han").eval()
    inputs = make_documents([[0, 4, 0], [2], [0]])
    items = model.read(inputs)
    assert not items.values[0, [0, 2]].any()
    assert not items.values[2].any()
    assert items.values[0, 1].any()
    decoded = decode(model, inputs)
    assert np.isfinite(decoded.output).all()
    assert np.allclose(decoded.weights.sum(), 1, atol=1e-6)
    assert decoded.weights.lengths.tolist() == [3, 1, 1]


@pytest.mark.parametrize("encoder", ENCODERS)
def test_one_sentence_has_all_the_attention(encoder: str) -> None:
    decoded = decode(make_model(encoder, kind="han"), make_documents([[5]]))
    assert decoded.weights.values.tolist() == [1.0]


def test_a_document_of_5000_sentences() -> None:
    model, inputs = make_model("bigru", kind="han", outputs=3).eval(), make_documents([[3, 1] * 2500, [2]])
    decoded = decode(model, inputs)
    assert decoded.weights.lengths.tolist() == [5000, 1]
    alone = predict(model, inputs.take(np.array([0])))
    assert np.allclose(decoded.output[0], alone[0], atol=1e-5)


@pytest.mark.parametrize(("kind", "encoder", "attention", "outputs"), EVERY_DOCUMENT_MODEL)
def test_evidence_decodes_to_the_models_own_output(kind: str, encoder: str, attention: str, outputs: int) -> None:
    model = make_model(encoder, attention, kind=kind, outputs=outputs).eval()
    inputs = inputs_of(kind, [[3, 1, 8], [2], [5, 5]])
    names = inputs.items.like(np.array([f"item {place}" for place in range(len(inputs.items.values))], dtype=object))
    evidence = observe(model, inputs, ids=["a", "b", "c"], tokens=names).validate()
    assert np.allclose(evidence.decode(evidence.weights), evidence.output, atol=1e-5)


@pytest.mark.parametrize("kind", ["flan", "han"])
def test_decoders_begin_without_bias_and_with_glorots_weights(kind: str) -> None:
    linear = make_model("none", kind=kind, outputs=4).decoder.linear
    assert not linear.bias.any()
    bound = (6 / (linear.in_features + linear.out_features)) ** 0.5
    assert 0.8 * bound < linear.weight.abs().max() <= bound
    assert make_model("none", outputs=4).decoder.linear.bias.any()


def test_a_flat_model_reads_no_sentinels() -> None:
    flat, framed = (make_model("cnn", kind=kind) for kind in ("flan", "classifier"))
    tokens = make_tokens([4])
    assert flat.read(Inputs(tokens)).values.shape[1] == 4
    assert framed.read(Inputs(tokens)).values.shape[1] == 6


@pytest.mark.parametrize("kind", ["flan", "han"])
def test_dropout_is_for_training_alone(kind: str) -> None:
    inputs = inputs_of(kind, [[3, 4], [6]])
    for dropout in (Dropout(words=0.5), Dropout(items=0.5), Dropout(logits=0.5)):
        model = make_model("none", kind=kind, outputs=4, dropout=dropout)
        reliable = make_model("none", kind=kind, outputs=4)
        assert np.array_equal(predict(model.eval(), inputs), predict(reliable.eval(), inputs))
        with torch.no_grad():
            first, second = (model.train()(model.read(inputs)).logits for _ in range(2))
        unused = kind == "flan" and dropout.words
        assert torch.equal(first, second) == bool(unused)


def test_words_are_grouped_by_the_length_of_their_sentences() -> None:
    groups = grouping.Groups.of(Ragged.from_rows([[3, 1], [0, 1, 3]], dtype=np.int32))
    assert groups.sentences.tolist() == [1, 3, 0, 4]
    assert groups.words.tolist() == [3, 4, 0, 1, 2, 5, 6, 7]
    assert [lengths.tolist() for lengths in groups.lengths] == [[1, 1], [3, 3]]
    shapes = [tuple(padded.values.shape) for padded in groups.padded(torch.zeros(8, 2))]
    assert shapes == [(2, 1, 2), (2, 3, 2)]
