"""Importance in flat and hierarchical models: of tokens without sentinels, and of whole sentences."""

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
from heedful.importance.gradient import FEW_OUTPUTS, gradient
from heedful.importance.integrated_gradients import integrated_gradients
from heedful.importance.leave_one_out import leave_one_out
from heedful.measures import tvd
from heedful.models.attentions import Query
from heedful.models.batches import Inputs
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.encoders import ENCODERS
from heedful.models.inference import predict
from heedful.models.options import ATTENTIONS
from heedful.ragged import Ragged
from tests.models.making import make_documents, make_model
from tests.strategies import examples

EVERY_MODEL = list(product(("flan", "han"), ENCODERS, ATTENTIONS))
MANY = FEW_OUTPUTS + 2
documents = st.lists(st.lists(st.integers(1, 7), min_size=1, max_size=4), min_size=1, max_size=3).map(
    lambda sizes: [*sizes, [1], [2, 3]]
)


def inputs_of(kind: str, sizes: list[list[int]]) -> Inputs:
    inputs = make_documents(sizes)
    return inputs if kind == "han" else Inputs(inputs.tokens)


def without(inputs: Inputs, item: int) -> Inputs | None:
    """A single instance without one of its items, written out; None if nothing is left."""
    words = inputs.tokens[0]
    if inputs.sentences is None:
        shorter, cut = np.delete(words, item), None
    else:
        cuts = inputs.sentences[0]
        parts = np.split(words, np.cumsum(cuts)[:-1])
        left = [part for place, part in enumerate(parts) if place != item]
        shorter = np.concatenate(left) if left else words[:0]
        cut = Ragged.from_rows([np.delete(cuts, item)], dtype=np.int32)
    return Inputs(Ragged.from_rows([shorter], dtype=np.int32), sentences=cut) if len(shorter) else None


@pytest.mark.parametrize(("kind", "encoder", "attention"), EVERY_MODEL)
@given(sizes=documents)
@examples(4)
def test_leave_one_out_equals_deletion(kind: str, encoder: str, attention: str, sizes: list[list[int]]) -> None:
    model, inputs = make_model(encoder, attention, kind=kind, outputs=3).eval(), inputs_of(kind, sizes)
    outputs = []
    for row in range(len(inputs)):
        alone = inputs.take(np.array([row]))
        for item in range(len(alone.items.values)):
            shorter = without(alone, item)
            with torch.no_grad():
                nothing = output_of(model.decoder(torch.zeros(1, model.encoder.size), Query())).numpy()
            outputs.append((nothing if shorter is None else predict(model, shorter))[0])
    expected = np.array(outputs)
    assert np.allclose(deletions(model, inputs).without.values, expected, atol=1e-5)
    whole = np.repeat(predict(model, inputs), inputs.items.lengths, axis=0)
    assert np.allclose(leave_one_out(ClassifierTexts(model, inputs)).values.values, tvd(whole, expected), atol=1e-5)


@pytest.mark.parametrize("kind", ["flan", "han"])
def test_chunks_of_deletions_make_no_difference(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    model, inputs = make_model("bigru", kind=kind).eval(), inputs_of(kind, [[3, 2, 4, 1], [2, 2], [5]])
    whole = leave_one_out(ClassifierTexts(model, inputs)).values.values
    monkeypatch.setattr(module, "CHUNK_CELLS", 5)
    assert np.allclose(leave_one_out(ClassifierTexts(model, inputs)).values.values, whole, atol=1e-6)


def plain_product(model: Classifier, inputs: Inputs, share: float, *, attention_fixed: bool) -> tuple[Tensor, Tensor]:
    """The decided output of one instance with vectors shrunk to a share, and e . dy/de of its items: autograd."""
    table = model.embedding[torch.from_numpy(inputs.tokens.values.astype(np.int64))].detach()
    decided = output_of(model(model.items(_laid(model, table, inputs), inputs)).logits)[0].argmax()
    vectors = (share * table).requires_grad_()
    states = model.encoder(model.items(_laid(model, vectors, inputs), inputs))
    weights = model.attention(states, Query()).values
    weights = weights.detach() if attention_fixed else weights
    output = output_of(model.decoder((weights[..., None] * states.values).sum(dim=1), Query()))[0, decided]
    output.backward()
    model.zero_grad()
    words = (vectors * vectors.grad).sum(dim=-1).detach()
    if inputs.sentences is not None:
        words = torch.stack([part.sum() for part in words.split(inputs.sentences.values.tolist())])
    return output.detach(), words


def _laid(model: Classifier, vectors: Tensor, inputs: Inputs) -> Tensor:
    """Word vectors in the order in which the model wants them."""
    return vectors[inputs.groups.words] if inputs.sentences is not None else vectors[None]


@pytest.mark.parametrize(("kind", "encoder", "attention"), EVERY_MODEL)
@given(sizes=documents, attention_fixed=st.booleans())
@examples(4)
def test_gradient_equals_autograd(
    kind: str, encoder: str, attention: str, sizes: list[list[int]], attention_fixed: bool
) -> None:
    model, inputs = make_model(encoder, attention, kind=kind, outputs=MANY).eval(), inputs_of(kind, sizes)
    ours = gradient(ClassifierTexts(model, inputs), attention_fixed=attention_fixed)
    assert ours.values.ndim == 1  # of the decided output alone
    for row, values in enumerate(ours):
        _, product_ = plain_product(model, inputs.take(np.array([row])), 1.0, attention_fixed=attention_fixed)
        assert np.allclose(values, product_.abs(), atol=1e-5)


@pytest.mark.parametrize("kind", ["flan", "han"])
def test_gradients_of_a_few_outputs_are_of_each(kind: str) -> None:
    inputs = inputs_of(kind, [[3, 2], [4]])
    for outputs in (1, FEW_OUTPUTS):
        assert (
            gradient(ClassifierTexts(make_model("cnn", kind=kind, outputs=outputs).eval(), inputs)).values.shape[1]
            == outputs
        )


@pytest.mark.parametrize(("kind", "encoder"), list(product(("flan", "han"), ENCODERS)))
def test_integrated_gradients_equal_a_plain_sum(kind: str, encoder: str) -> None:
    model = make_model(encoder, kind=kind, outputs=MANY).double().eval()
    inputs = inputs_of(kind, [[3, 2, 4], [1], [2, 2]])
    values, error = integrated_gradients(ClassifierTexts(model, inputs), tolerance=1e-3)
    assert error.max() <= 1e-3
    for row, ours in enumerate(values):
        assert np.allclose(ours, midpoints(model, inputs.take(np.array([row])), 200), atol=2e-3)


def midpoints(model: Classifier, inputs: Inputs, points: int) -> NDArray[np.float64]:
    total = np.zeros(len(inputs.items.values))
    for point in range(points):
        share = (point + 0.5) / points
        _, product_ = plain_product(model, inputs, share, attention_fixed=False)
        total += product_.numpy() / share / points
    return total
