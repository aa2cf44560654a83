"""Models given a query against their formulas, written out in NumPy, instance by instance."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from heedful.models.batches import Inputs, Padded, with_sentinels
from heedful.models.classifier import Classifier, padded_query
from heedful.models.embedding_gradients import Tables
from heedful.models.inference import predict
from heedful.models.options import TrainingOptions
from heedful.models.training import make_optimiser, train_step
from heedful.ragged import Ragged
from tests.models.making import make_inputs, make_model

EVERY = [(encoder, attention) for encoder in ("bilstm", "cnn", "average") for attention in ("additive", "dot")]


def array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy().astype(np.float64)


def summary(model: Classifier, inputs: Inputs) -> np.ndarray:
    """The query's vector: last states, largest responses, or the mean, of the query's own tokens."""
    question = model.question
    with torch.no_grad():
        states = array(question.encoder(question.embed(padded_query(inputs))).values)[0]  # (T + 2, H)
    half = states.shape[1] // 2
    kind = type(question.encoder).__name__
    if kind == "BiLSTM":
        return np.concatenate([states[-1, :half], states[0, half:]])
    return states[1:-1].max(axis=0) if kind == "CNN" else states[1:-1].mean(axis=0)


@pytest.mark.parametrize(("encoder", "attention"), EVERY)
def test_the_output_follows_the_formulas(encoder: str, attention: str) -> None:
    model = make_model(encoder, attention, outputs=5, query=True)
    inputs = make_inputs([4, 7], query=True, outputs=5)
    outputs = predict(model, inputs)
    for row in range(2):
        alone = inputs.take(np.array([row]))
        q = summary(model, alone)
        with torch.no_grad():
            embedded = model.embed(Padded.of(with_sentinels(alone.tokens)))
            h = array(model.encoder(embedded).values)[0, 1:-1]  # (T, H)
        if attention == "additive":
            attention_layer = model.attention
            inner = h @ array(attention_layer.hidden.weight).T + array(attention_layer.hidden.bias)
            inner = inner + array(attention_layer.query.weight) @ q + array(attention_layer.query.bias)
            scores = np.tanh(inner) @ array(attention_layer.score.weight)[0]
        else:
            scores = h @ q / np.sqrt(len(q))
        alpha = np.exp(scores - scores.max())
        c = alpha / alpha.sum() @ h
        decoder = model.decoder
        mixed = array(decoder.attended.weight) @ c + array(decoder.attended.bias)
        hidden = np.tanh(mixed + array(decoder.query.weight) @ q + array(decoder.query.bias))
        logits = array(decoder.answer.weight) @ hidden + array(decoder.answer.bias)
        allowed = np.exp(logits[alone.candidates[0]])
        expected = np.zeros(5)
        expected[alone.candidates[0]] = allowed / allowed.sum()
        assert np.allclose(outputs[row], expected, atol=1e-5)


def test_texts_and_queries_are_read_apart() -> None:
    model = make_model(query=True, outputs=3)
    own = {id(parameter) for parameter in model.question.parameters()}
    rest = {id(parameter) for name, parameter in model.named_parameters() if not name.startswith("question.")}
    assert own.isdisjoint(rest)
    assert not torch.equal(model.question.encoder.ahead.weight_ih_l0, model.encoder.ahead.weight_ih_l0)


@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
def test_steps_are_those_of_plain_autograd(encoder: str) -> None:
    """Both tables of word vectors get their gradients, from the words of the batch only, and lose them again."""
    options = TrainingOptions(learning_rate=0.01, l2=0.01, class_weights=False)
    model, plain = (make_model(encoder, query=True, outputs=5) for _ in range(2))
    inputs, labels = make_inputs([3, 5, 9, 1], query=True, outputs=5), None
    labels = torch.tensor([int(inputs.candidates[row][0]) for row in range(4)])
    ours, tables = make_optimiser(model, options), Tables(model)
    theirs = torch.optim.Adam(plain.parameters(), lr=0.01, weight_decay=0.01)
    for _ in range(3):
        embedded = plain.embed(Padded.of(with_sentinels(inputs.tokens)))
        loss = cross_entropy(plain(embedded, plain.query(inputs)).logits, labels)
        theirs.zero_grad()
        loss.backward()
        theirs.step()
        step = train_step(model, ours, tables, inputs, lambda logits: cross_entropy(logits, labels), options=options)
        assert step == pytest.approx(loss.item(), abs=1e-4)
    for name, parameter in plain.named_parameters():
        assert torch.allclose(model.get_parameter(name), parameter, atol=1e-3), name
    assert (tables.text.values == 0).all()
    assert (tables.query.values == 0).all()


@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
def test_an_empty_query_is_defined_alone_and_among_others(encoder: str) -> None:
    model = make_model(encoder, query=True, outputs=3)
    inputs = make_inputs([4, 6], query=True, candidates=False)
    empty = Inputs(inputs.tokens, Ragged.from_rows([[], [5, 6]], dtype=np.int32))
    together = predict(model, empty)
    assert np.isfinite(together).all()
    assert np.allclose(together[:1], predict(model, empty.take(np.array([0]))), atol=1e-5)
