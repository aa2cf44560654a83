"""Evidence of decoders that are not affine: features, context, candidates and the decoder."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful import tanh_decoder as decoding
from heedful.errors import BadInput
from heedful.evidence import Evidence, read_batches
from heedful.tanh_decoder import TanhDecoder
from tests.making import make_evidence


@given(st.integers(0, 2**32), st.sampled_from([2, 5]))
def test_decoding_features_is_the_formula_instance_by_instance(seed: int, outputs: int) -> None:
    evidence = make_evidence(seed, outputs=outputs, decoder="tanh")
    other = evidence.weights.like(np.random.default_rng(seed).dirichlet(np.ones(len(evidence.weights.values))))
    decoded = evidence.decode(other)
    assert evidence.features is not None
    assert evidence.context is not None
    assert evidence.candidates is not None
    assert evidence.decoder is not None
    weight, bias = evidence.decoder.weight.astype(float), evidence.decoder.bias.astype(float)
    for row in range(len(evidence)):
        mixed = sum(w * f for w, f in zip(other[row], evidence.features[row].astype(float), strict=True))
        hidden = np.tanh(mixed + evidence.context[row].astype(float))
        powers = {int(k): np.exp(weight[k] @ hidden + bias[k]) for k in evidence.candidates[row]}
        wanted = [powers.get(k, 0.0) / sum(powers.values()) for k in range(outputs)]
        assert np.allclose(decoded[row], wanted, atol=1e-9)


def test_many_features_are_mixed_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = make_evidence(n=20, outputs=3, decoder="tanh")
    whole = evidence.decode(evidence.weights)
    monkeypatch.setattr(decoding, "CELLS", 12)
    assert np.array_equal(evidence.decode(evidence.weights), whole)


def test_a_decoder_broadcasts() -> None:
    decoder = TanhDecoder(np.ones((3, 2), dtype=np.float32), np.zeros(3, dtype=np.float32))
    assert decoder.logits(np.zeros((4, 5, 2)), np.zeros((4, 1, 2))).shape == (4, 5, 3)
    assert decoder.logits(np.zeros(2, dtype=np.float32), np.full(2, 0.5)).tolist() == [2 * np.tanh(0.5)] * 3


def test_features_and_their_decoder_are_written_and_read_in_full(tmp_path: Path) -> None:
    evidence, path = make_evidence(outputs=3, decoder="tanh"), tmp_path / "e.parquet"
    evidence.write(path)
    again = Evidence.read(path)
    assert again.to_frame().equals(evidence.to_frame())
    assert again.decoder is not None
    assert evidence.decoder is not None
    assert again.decoder.weight.dtype == np.float32
    assert np.array_equal(again.decoder.weight, evidence.decoder.weight)
    assert np.array_equal(again.decoder.bias, evidence.decoder.bias)
    schema = pl.read_parquet_schema(path)
    assert schema["features"] == pl.List(pl.List(pl.Float32))
    assert schema["context"] == pl.List(pl.Float32)
    assert schema["candidates"] == pl.List(pl.Int32)
    batches = list(read_batches(path, 2))
    assert pl.concat([batch.to_frame() for batch in batches]).equals(evidence.to_frame())
    assert "with features, candidates, labels, truth" in repr(again)
    assert again.decodable
    assert not replace(again, features=None, context=None, decoder=None, candidates=None).decodable


DECODER = '{"activation": "tanh", "weight": [[1, 0], [0, 1], [1, 1]], "bias": [0, 0, 0]}'


def _features(**changes: Any) -> pl.DataFrame:
    """Two instances of three classes and two features, of which the last class is no candidate."""
    frame: dict[str, Any] = {
        "id": ["one", "two"],
        "tokens": [["x", "y"], ["z", "w"]],
        "weights": [[0.5, 0.5], [0.5, 0.5]],
        "features": [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]],
        "context": [[0.0, 1.0], [0.0, 1.0]],
        "candidates": [[0, 1], [0, 1]],
        "output": [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]],
    }
    return pl.DataFrame(
        {name: column for name, column in (frame | changes).items() if column is not None}, strict=False
    )


def test_features_of_another_tool_are_read() -> None:
    assert Evidence.from_frame(_features(), {"decoder": DECODER}).decisions.tolist() == [0, 0]
    everything = _features(candidates=None, output=[[0.2418, 0.2418, 0.5164]] * 2)
    assert Evidence.from_frame(everything, {"decoder": DECODER}).decisions.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"context": None}, "'features' and 'context' and the metadata 'decoder' go together"),
        ({"features": None}, "'features' and 'context' and the metadata 'decoder' go together"),
        ({"context": [[0.0], [0.0]]}, "'features' and 'context' must be as wide as the decoder's weight, 2"),
        ({"context": [[0.0, 1.0], [0.0, float("nan")]]}, "instance 'two': 'context' has NaN"),
        ({"features": [[[1.0, 0.0]] * 2, [[0.0, 0.0]]]}, "instance 'two': 'features' and 'weights' have different"),
        ({"features": [[[1.0, 0.0]] * 2, [[0.0, 0.0], [2.0, float("inf")]]]}, "instance 'two': 'features' has NaN"),
        ({"features": [[[1.0, 0.0]] * 2, [[0.0, 0.0], [0.2, 0.0]]]}, "instance 'two': .* give an output .* away from"),
        ({"candidates": [[0, 1], []]}, "instance 'two': 'candidates' is empty"),
        ({"candidates": [[0, 1], [0, 3]]}, "instance 'two': 'candidates' has a class that is not one of 0 to 2"),
        ({"candidates": [[0, 1], [-1, 1]]}, "instance 'two': 'candidates' has a class that is not one of 0 to 2"),
        ({"candidates": [[0, 1], [0, 2**40]]}, "instance 'two': 'candidates' has a class that is not one of 0 to 2"),
        ({"candidates": [[0, 1], [1, 0]]}, "instance 'two': 'candidates' must rise"),
        ({"candidates": [[0, 1], [1, 1]]}, "instance 'two': 'candidates' must rise"),
        ({"candidates": [[0.0, 1.0], [0.5, 1.0]]}, "column 'candidates' holds Float64, not whole numbers"),
        ({"output": [[0.5, 0.5, 0.0], [0.5, 0.4999, 0.0001]]}, "instance 'two': 'output' of a class that is no candid"),
        ({"output": [[1.0], [1.0]]}, "a decoder of 'features' has two outputs or more"),
        ({"output": [[0.5, 0.5], [0.5, 0.5]]}, "weight must have one row for each of the 2 outputs"),
        ({"scores": [[[0.0] * 3] * 2] * 2, "bias": [[0.0] * 3] * 2}, "'scores' are of an affine decoder"),
    ],
)
def test_features_that_cannot_be_decoded_are_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        Evidence.from_frame(_features(**changes), {"decoder": DECODER})


def test_features_without_their_decoder_are_refused() -> None:
    with pytest.raises(BadInput, match="go together"):
        Evidence.from_frame(_features())
    with pytest.raises(BadInput, match="'candidates' goes with 'features'"):
        Evidence.from_frame(_features(features=None, context=None))


@pytest.mark.parametrize(
    ("decoder", "problem"),
    [
        ("tanh", "'decoder' is not JSON"),
        ("[]", "must be a JSON object"),
        (DECODER.replace("tanh", "relu"), "no other activation is known"),
        (DECODER.replace("[0, 1]", "[0]"), "no usable 'weight'; give a list of equally long lists"),
        (DECODER.replace("[0, 1]", '["a", 1]'), "no usable 'weight'"),
        (DECODER.replace("[0, 1]", "[1e300, 1]"), "no usable 'weight'"),
        (DECODER.replace('"bias": [0, 0, 0]', '"bias": 0'), "no usable 'bias'; give a list of numbers"),
        (DECODER.replace('"bias": [0, 0, 0]', '"bias": [0, 0]'), "bias must have one value for each of the 3 outputs"),
        (DECODER.replace("[0, 1], ", ""), "weight must have one row for each of the 3 outputs"),
    ],
)
def test_a_decoder_that_is_not_ours_is_refused(decoder: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        Evidence.from_frame(_features(), {"decoder": decoder})
