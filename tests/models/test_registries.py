"""A new encoder or attention is one file: what it registers serves configuration, training and importance."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import Field
from torch import Tensor, nn

from heedful.errors import BadConfig
from heedful.importance import MEASURES
from heedful.importance.table import importance_table
from heedful.measures import tvd
from heedful.models.attentions import Attention, Query, Variants
from heedful.models.batches import Padded
from heedful.models.checkpoint import Checkpoint
from heedful.models.classifier import Classifier
from heedful.models.documents import MODELS
from heedful.models.encoders import ENCODERS, Encoder, encoder
from heedful.models.inference import predict
from heedful.models.options import ATTENTIONS, ENCODER_OPTIONS, Options, TrainingOptions
from heedful.models.training import train
from heedful.runs.config import resolve
from tests.models.making import WORDS, make_examples, make_inputs


class NeighbourOptions(Options):
    reach: int = Field(1, ge=0)


class Neighbours(Encoder):
    """The mean of each token and its neighbours."""

    def __init__(self, width: int, options: NeighbourOptions) -> None:
        super().__init__(width, options)
        self.size, self.reach = width, options.reach

    def forward(self, embedded: Padded) -> Padded:
        columns = embedded.zeroed().values.transpose(1, 2)
        mean = nn.functional.avg_pool1d(columns, 2 * self.reach + 1, stride=1, padding=self.reach)
        return embedded.with_values(mean.transpose(1, 2))


class FirstNumber(Attention):
    """The first number of a state, scaled."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def scores(self, states: Tensor, query: Query) -> Tensor:
        return self.scale * states[..., 0]


@pytest.fixture(autouse=True)
def toys() -> Iterator[None]:
    encoder("neighbours", NeighbourOptions)(Neighbours)
    ATTENTIONS.register("first", Variants(FirstNumber))
    yield
    ENCODER_OPTIONS.unregister("neighbours")
    del ENCODERS["neighbours"]
    ATTENTIONS.unregister("first")


def toy(kind: str = "classifier", **parts: object) -> Classifier:
    vectors = np.random.default_rng(0).standard_normal((WORDS, 10)).astype(np.float32)
    made = {
        "encoder": "neighbours",
        "encoder_options": NeighbourOptions(),
        "attention": "first",
        "outputs": 1,
        "seed": 0,
    }
    return MODELS[kind](embedding=vectors, **(made | parts))


@pytest.mark.parametrize("kind", ["classifier", "flan"])
@pytest.mark.parametrize("preset", ["paper", "released"])
def test_a_configuration_takes_the_options_own_defaults(kind: str, preset: str) -> None:
    values = {"corpus": "planted", "model": kind, "encoder": "neighbours", "attention": "first", "preset": preset}
    assert resolve(values).encoder_options == {"reach": 1}
    with pytest.raises(BadConfig, match=r"encoder_options\.reach"):
        resolve(values | {"encoder_options": {"reach": -1}})


def test_it_is_trained_and_its_importance_measured_plainly(tmp_path: Path) -> None:
    model, examples = toy(), make_examples()
    options = TrainingOptions(epochs=1)
    history = train(
        model, examples, examples, options, classes=("a", "b"), seed=0, checkpoint=Checkpoint(tmp_path / "checkpoint")
    )
    assert len(history) == 1
    inputs = make_inputs([4, 1, 6], query=False)
    frame = importance_table(model, ["a", "b", "c"], inputs, measures=list(MEASURES), tolerance=0.01)
    assert set(frame["measure"]) == set(MEASURES)
    left_out = frame.filter(measure="leave_one_out")["values"].to_list()
    whole = predict(model, inputs)
    for row, item in [(0, 0), (0, 3), (2, 2)]:
        shorter = inputs.shortened(np.array([inputs.items.offsets[row] + item]))
        assert left_out[row][item] == pytest.approx(tvd(whole[[row]], predict(model, shorter))[0], abs=1e-6)


@pytest.mark.parametrize("kind", ["flan", "han"])
def test_document_models_take_the_usual_variant(kind: str) -> None:
    assert isinstance(toy(kind).attention, FirstNumber)


def test_an_attention_without_queries_is_refused_where_there_are_some() -> None:
    with pytest.raises(BadConfig, match="'first' cannot attend to a query"):
        toy(query_embedding=np.zeros((WORDS, 10), dtype=np.float32))


def test_a_module_is_imported_when_its_encoder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
from heedful.models.encoders import NoEncoder, encoder
from heedful.models.options import NoneOptions

@encoder("elsewhere", NoneOptions)
class Elsewhere(NoEncoder):
    pass
"""
    (tmp_path / "encoder_elsewhere.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    ENCODER_OPTIONS.register("elsewhere", "encoder_elsewhere")  # type: ignore[arg-type]  # as the line in options.py
    try:
        assert type(toy(encoder="elsewhere").encoder).__name__ == "Elsewhere"
    finally:
        ENCODER_OPTIONS.unregister("elsewhere")
        ENCODERS.pop("elsewhere", None)
