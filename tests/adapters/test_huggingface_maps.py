"""Maps and changed readings against plain versions of them, made of what the library's eager models return."""

from typing import Any

import numpy as np
import pytest
import torch

from heedful.adapters import changes
from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.huggingface.maps import MAPS, Kind, Layer, rolled_out
from heedful.adapters.subject import padded
from heedful.errors import BadConfig
from tests.adapters.tiny import FAMILIES, TEXTS, classifier, word_pieces


def attentions(model: Any, tokens: list[int]) -> list[np.ndarray]:
    """Each layer's weights (H, L, L) as the library itself tells them."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        output = model(input_ids=torch.tensor([tokens]), output_attentions=True)
    return [weights[0].double().numpy() for weights in output.attentions]


def of_items(tokens_map: np.ndarray, item: np.ndarray) -> np.ndarray:
    values = tokens_map[item >= 0]
    return values / values.sum()


@pytest.mark.parametrize("family", FAMILIES)
def test_maps_are_what_the_library_itself_returns(family: str) -> None:
    plain = classifier(family)
    subjects = {
        name: HuggingFace(classifier(family), word_pieces(), map=name)
        for name in ("cls", "layer:0", "layer:-2,head:1", "rollout")
    }
    texts = subjects["cls"].encode(TEXTS)
    seen = {name: subject.read(texts) for name, subject in subjects.items()}
    for row in (0, 2):
        weights, item = attentions(plain, texts.tokens[row].tolist()), texts.item[row]
        place = len(item) - 1 if family in ("gpt2", "llama") else 0
        whole = np.eye(len(item))
        for layer in weights:
            mixed = layer.mean(axis=0) + np.eye(len(item))
            whole = mixed / mixed.sum(axis=1, keepdims=True) @ whole
        expected = {
            "cls": weights[-1].mean(axis=0)[place],
            "layer:0": weights[0].mean(axis=0)[place],
            "layer:-2,head:1": weights[-2][1, place],
            "rollout": whole[place],
        }
        for name, tokens_map in expected.items():
            np.testing.assert_allclose(seen[name].weights[row], of_items(tokens_map, item), atol=1e-6)
            np.testing.assert_allclose(seen[name].aside[row], tokens_map[item < 0].sum(), atol=1e-6)


def test_a_mean_of_all_states_has_the_mean_of_all_rows() -> None:
    subject = HuggingFace(classifier("modernbert", classifier_pooling="mean"), word_pieces())
    texts = subject.encode(TEXTS)
    weights = attentions(classifier("modernbert"), texts.tokens[2].tolist())[-1]
    expected = of_items(weights.mean(axis=(0, 1)), texts.item[2])
    np.testing.assert_allclose(subject.read(texts).weights[2], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("family", "value", "output"),
    [("bert", "bert.encoder.layer.2.attention.self.value", "bert.encoder.layer.2.attention.output.dense")],
)
def test_norms_are_those_of_the_vectors_themselves(family: str, value: str, output: str) -> None:
    model = classifier(family)
    subject = HuggingFace(classifier(family), word_pieces(), map="norm")
    texts = subject.encode(TEXTS)
    tokens = texts.tokens[2].tolist()
    weights = attentions(model, tokens)[-1]
    with torch.no_grad():
        states = model(input_ids=torch.tensor([tokens]), output_hidden_states=True).hidden_states[-2][0]
        values = model.get_submodule(value)(states).view(len(tokens), 4, 8).numpy()
    projection = model.get_submodule(output).weight.detach().numpy().T.reshape(4, 8, 32)
    vectors = [
        sum(weights[head, 0, t] * values[t, head] @ projection[head] for head in range(4)) for t in range(len(tokens))
    ]
    expected = of_items(np.linalg.norm(vectors, axis=1), texts.item[2])
    np.testing.assert_allclose(subject.read(texts).weights[2], expected, atol=1e-6)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "modernbert", "distilbert"])
def test_norms_find_the_projection_of_the_last_layer(family: str) -> None:
    subject = HuggingFace(classifier(family), word_pieces(), map="norm")
    names = {"bert": "attention.output.dense", "gpt2": "attn.c_proj", "llama": "o_proj", "modernbert": "attn.Wo"}
    wanted = [module for name, module in subject.model.named_modules() if name.endswith(names.get(family, "out_lin"))][
        -1
    ].weight
    assert subject.projection is not None
    assert torch.equal(subject.projection, wanted if family == "gpt2" else wanted.T)


def test_one_row_of_a_rollout_is_that_row_of_the_whole() -> None:
    draw = torch.Generator().manual_seed(0)
    layers = [torch.rand(2, 6, 6, generator=draw, dtype=torch.float64) for _ in range(4)]
    layers = [layer / (layer.sum(dim=-1, keepdim=True) + 0.3) for layer in layers]  # sinks: rows below one
    whole = torch.eye(6, dtype=torch.float64).expand(2, 6, 6)
    for layer in layers:
        mixed = layer + torch.eye(6)
        whole = mixed / mixed.sum(dim=-1, keepdim=True) @ whole
    start = torch.zeros(2, 6, dtype=torch.float64)
    start[:, 3] = 1
    torch.testing.assert_close(rolled_out(layers, start), whole[:, 3])


@pytest.mark.parametrize("audited", ["cls", "layer:-1,head:2"])
def test_changed_weights_are_the_ones_used(audited: str) -> None:
    """Against the last layer of BERT computed by hand from the states before it."""
    model = classifier("bert")
    subject = HuggingFace(model, word_pieces(), map=audited)
    texts = subject.encode(TEXTS)
    batch = padded(texts, np.array([2]))
    draw = torch.Generator().manual_seed(1)
    wanted = torch.rand(1, batch.items, generator=draw)
    wanted /= wanted.sum()
    reading = subject.forward(batch, change=changes.assigned(wanted))
    tokens, item = batch.tokens, texts.item[2]
    weights = torch.tensor(attentions(classifier("bert"), tokens[0].tolist())[-1]).float()  # (H, L, L)
    inside = torch.tensor(item >= 0)
    for head in range(4) if audited == "cls" else [2]:
        weights[head, 0, inside] = weights[head, 0, inside].sum() * wanted[0]
    with torch.no_grad():
        states = model(**{"input_ids": tokens}, output_hidden_states=True).hidden_states[-2]  # (1, L, W)
        layer = model.bert.encoder.layer[-1]
        values = layer.attention.self.value(states[0]).view(-1, 4, 8).transpose(0, 1)  # (H, L, D)
        mixed = layer.attention.output((weights @ values).transpose(0, 1).reshape(1, -1, 32), states)
        last = layer.output(layer.intermediate(mixed), mixed)
        logits = model.classifier(model.bert.pooler(last))
    torch.testing.assert_close(reading.logits, logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(reading.weights, wanted, atol=1e-6, rtol=1e-5)


def test_fixed_attention_has_no_gradient() -> None:
    """The scores of the last layer's classifying row are made by that layer's query alone."""
    subject = HuggingFace(classifier("bert"), word_pieces())
    batch = padded(subject.encode(TEXTS), np.arange(3))
    query = subject.model.bert.encoder.layer[-1].attention.self.query.weight
    slopes = []
    for fixed in (False, True):
        with torch.enable_grad():
            reading = subject.forward(batch, attention_fixed=fixed)
        (slope,) = torch.autograd.grad(reading.logits.sum(), query, allow_unused=True, materialize_grads=True)
        slopes.append(float(slope.abs().max()))
    assert slopes[0] > 0
    assert slopes[1] == 0


@pytest.mark.parametrize(
    ("audited", "reason"),
    [
        ("clss", "unknown map 'clss'"),
        ("layer:one", "unknown map"),
        ("layer:3", "no layer 3; there are 3, so give -3 to 2"),
        ("layer:0,head:-5", "no head -5; there are 4, so give -4 to 3"),
    ],
)
def test_maps_that_are_not_there_are_named(audited: str, reason: str) -> None:
    with pytest.raises(BadConfig, match=reason):
        HuggingFace(classifier("bert"), word_pieces(), map=audited)


def test_a_toy_map_is_one_function_and_one_line() -> None:
    def strongest_head(layer: Layer) -> torch.Tensor:
        rows = layer.rows.amax(dim=1)[:, 0]  # (B, L)
        return rows / rows.sum(dim=-1, keepdim=True)

    model = classifier("bert")
    MAPS.register("strongest", Kind(strongest_head))
    try:
        subject = HuggingFace(model, word_pieces(), map="strongest")
    finally:
        MAPS.unregister("strongest")
    texts = subject.encode(TEXTS)
    seen = subject.read(texts)
    assert np.allclose(seen.weights.sum()[texts.lengths > 0], 1, atol=1e-6)
    usual = HuggingFace(model, word_pieces()).read(texts)
    assert not np.allclose(seen.weights.values, usual.weights.values, atol=1e-3)
    assert subject.check(texts).identity < 1e-5
