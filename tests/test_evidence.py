import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadInput
from heedful.evidence import Evidence, probabilities, read_batches
from heedful.ragged import Ragged
from tests.making import make_evidence


@given(st.integers(0, 2**32), st.sampled_from([1, 3]))
def test_decoding_is_the_plain_sum_instance_by_instance(seed: int, outputs: int) -> None:
    evidence = make_evidence(seed, outputs=outputs)
    other = evidence.weights.like(np.random.default_rng(seed).dirichlet(np.ones(len(evidence.weights.values))))
    decoded = evidence.decode(other)
    assert evidence.scores is not None
    assert evidence.bias is not None
    for row in range(len(evidence)):
        logits = sum(w * s for w, s in zip(other[row], evidence.scores[row].astype(float), strict=True))
        assert np.allclose(decoded[row], probabilities(logits + evidence.bias[row].astype(float)), atol=1e-9)


@pytest.mark.parametrize("outputs", [1, 3])
def test_what_is_written_is_what_is_read(tmp_path: Path, outputs: int) -> None:
    evidence = make_evidence(outputs=outputs)
    evidence.write(tmp_path / "e.parquet")
    again = Evidence.read(tmp_path / "e.parquet")
    assert again.to_frame().equals(evidence.to_frame())
    assert again.classes == evidence.classes
    assert again.provenance == evidence.provenance
    assert np.allclose(again.decode(again.weights), again.output, atol=1e-6)


def test_the_file_has_the_documented_types(tmp_path: Path) -> None:
    make_evidence().write(tmp_path / "e.parquet")
    assert dict(pl.read_parquet_schema(tmp_path / "e.parquet")) == {
        "id": pl.String,
        "tokens": pl.List(pl.String),
        "weights": pl.List(pl.Float32),
        "scores": pl.List(pl.List(pl.Float32)),
        "bias": pl.List(pl.Float32),
        "output": pl.List(pl.Float32),
        "label": pl.Int32,
        "truth": pl.List(pl.Boolean),
    }


def test_a_file_of_another_tool_needs_only_the_required_columns(tmp_path: Path) -> None:
    path = tmp_path / "theirs.parquet"
    pl.DataFrame(
        {
            "id": ["a", "b"],
            "tokens": [["x", "y"], ["z"]],
            "weights": [[0.25, 0.75], [1.0]],
            "output": [[0.2], [0.9]],
            "label": [None, 1],
        }
    ).write_parquet(path)
    evidence = Evidence.read(path)
    assert evidence.decisions.tolist() == [0, 1]
    assert evidence.labels is not None
    assert evidence.labels.tolist() == [-1, 1]
    assert evidence.to_frame()["label"].to_list() == [None, 1]
    with pytest.raises(BadInput, match="no columns 'scores'"):
        evidence.decode(evidence.weights)


def test_evidence_of_any_size_is_one_line_to_print() -> None:
    printed = repr(make_evidence(n=2000))
    assert printed.startswith("Evidence(2,000 instances, ")
    assert len(printed) < 120


@given(st.integers(1, 4))
def test_batches_are_the_whole(size: int) -> None:
    evidence = make_evidence(n=5)
    frames = [batch.to_frame() for batch in evidence.batches(size)]
    assert all(len(frame) <= size for frame in frames)
    assert pl.concat(frames).equals(evidence.to_frame())


def test_reading_in_batches_is_reading(tmp_path: Path) -> None:
    evidence = make_evidence(n=7)
    evidence.write(tmp_path / "e.parquet")
    frames = [batch.to_frame() for batch in read_batches(tmp_path / "e.parquet", 3)]
    assert [len(frame) for frame in frames] == [3, 3, 1]
    assert pl.concat(frames).equals(evidence.to_frame())


def test_ties_are_decided_for_the_lowest_class() -> None:
    frame = {"id": ["a"], "tokens": [["x"]], "weights": [[1.0]]}
    assert Evidence.from_frame(pl.DataFrame({**frame, "output": [[0.5]]})).decisions.tolist() == [0]
    assert Evidence.from_frame(pl.DataFrame({**frame, "output": [[0.2, 0.4, 0.4]]})).decisions.tolist() == [1]


def _breakage(column: str, value: Any) -> dict[str, Any]:
    """A valid frame of two instances in which one cell of the second is broken."""
    frame: dict[str, Any] = {
        "id": ["one", "two"],
        "tokens": [["x", "y"], ["z", "w"]],
        "weights": [[0.5, 0.5], [0.5, 0.5]],
        "scores": [[[1.0], [2.0]], [[1.0], [2.0]]],
        "bias": [[0.0], [0.0]],
        "output": [[0.8175745], [0.8175745]],
        "label": [0, 1],
        "truth": [[True, False], [False, True]],
    }
    frame[column] = [frame[column][0], value]
    return frame


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("id", "one", "more than once"),
        ("id", None, "no id"),
        ("tokens", ["z"], "'tokens' and 'weights' have different lengths"),
        ("weights", [0.5, -0.5], "negative"),
        ("weights", [0.5, 0.4], "sum to 0.9, not to 1"),
        ("weights", [0.5, float("nan")], "NaN"),
        ("weights", None, "'weights' is null"),
        ("scores", [[1.0]], "'scores' and 'weights' have different lengths"),
        ("scores", [[1.0, 2.0], [1.0, 2.0]], "between 1 and 2 values"),
        ("scores", [[1.0], [float("inf")]], "'scores' has NaN or infinite"),
        ("bias", [0.0, 1.0], "'bias' has 2 values where others have 1"),
        ("output", [1.5], "probabilities"),
        ("output", [float("nan")], "'output' has NaN"),
        ("label", 2, "label is not one of 0 to 1"),
        ("label", 2**40, "label is not one of 0 to 1"),
        ("scores", [[1.0], [9.0]], "give an output that is 0.176 away from 'output'"),
        ("truth", [True], "'truth' and 'weights' have different lengths"),
    ],
)
def test_a_broken_instance_is_named(column: str, value: Any, problem: str) -> None:
    frame = pl.DataFrame(_breakage(column, value), strict=False)
    with pytest.raises(BadInput, match=problem):
        Evidence.from_frame(frame, where="mine.parquet")


def test_an_empty_instance_is_refused() -> None:
    frame = pl.DataFrame({"id": ["a"], "tokens": [[]], "weights": [[]], "output": [[0.5]]}).cast(
        {"tokens": pl.List(pl.String), "weights": pl.List(pl.Float32)}
    )
    with pytest.raises(BadInput, match="instance 'a': it has no items"):
        Evidence.from_frame(frame)


@pytest.mark.parametrize("column", ["id", "tokens", "weights", "output"])
def test_a_missing_column_is_named(column: str) -> None:
    frame = pl.DataFrame(_breakage("label", 1)).drop(column)
    with pytest.raises(BadInput, match=f"mine.parquet: column '{column}' is missing"):
        Evidence.from_frame(frame, where="mine.parquet")


def test_scores_without_bias_are_refused() -> None:
    with pytest.raises(BadInput, match="give both or neither"):
        Evidence.from_frame(pl.DataFrame(_breakage("label", 1)).drop("bias"))


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (pl.col("weights").cast(pl.List(pl.String)), "column 'weights' holds String, not numbers"),
        (pl.col("weights").cast(pl.List(pl.Float64)).alias("truth"), "column 'truth' holds Float64, not flags"),
        (pl.col("weights").alias("tokens"), "column 'tokens' holds Float64, not text"),
        (pl.col("scores").alias("weights"), "column 'weights' holds List"),
        (pl.lit("good").alias("label"), "column 'label' holds String; labels are indices"),
        (pl.lit(0.7).alias("label"), "column 'label' holds Float64; labels are indices"),
        (pl.lit(3).alias("id"), "column 'id' holds Int32; ids are strings"),
        (pl.lit(3).alias("weights"), "column 'weights' holds Int32, not lists"),
    ],
)
def test_columns_of_the_wrong_kind_are_refused(column: pl.Expr, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        Evidence.from_frame(pl.DataFrame(_breakage("label", 1)).with_columns(column))


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        ({"classes": "a,b"}, "'classes' is not JSON"),
        ({"classes": '"ab"'}, "must be a JSON list"),
        ({"classes": "[1, 2]"}, "must be a JSON list of strings"),
    ],
)
def test_metadata_that_is_not_ours_is_refused(about: dict[str, str], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        Evidence.from_frame(pl.DataFrame(_breakage("label", 1)), about)


def test_a_file_without_instances_is_refused() -> None:
    with pytest.raises(BadInput, match="no instances"):
        Evidence.from_frame(pl.DataFrame(_breakage("label", 1)).head(0))


@pytest.mark.parametrize(
    "change",
    [{"ids": ["only"]}, {"output": np.zeros((5, 1))}, {"labels": np.zeros(9)}, {"bias": np.zeros((9, 1))}],
)
def test_columns_of_different_heights_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"rows for \d instances"):
        replace(make_evidence(n=2), **change).validate()


def test_an_id_that_occurs_in_two_batches_is_found(tmp_path: Path) -> None:
    frame = make_evidence(n=2).to_frame()
    pl.concat([frame, frame]).write_parquet(tmp_path / "twice.parquet")
    with pytest.raises(BadInput, match="more than once"):
        list(read_batches(tmp_path / "twice.parquet", 1))


@given(st.integers(-6, 8), st.integers(-6, 8))
def test_slices_count_as_in_python(start: int, stop: int) -> None:
    evidence = make_evidence(n=5)
    cut = evidence.slice(start, stop)
    assert list(cut.ids) == list(evidence.ids)[start:stop]
    assert len(cut.weights) == len(cut.ids) == len(cut.output)


def test_outputs_without_values_are_refused() -> None:
    empty = pl.Series([[], []], dtype=pl.List(pl.Float32))
    frame = pl.DataFrame(_breakage("label", 1)).drop("scores", "bias").with_columns(output=empty)
    with pytest.raises(BadInput, match="'output' must have one or more probabilities"):
        Evidence.from_frame(frame)
    with pytest.raises(BadInput, match="'output' must have one or more probabilities"):
        replace(make_evidence(n=2), output=np.zeros(2), scores=None, bias=None).validate()


@pytest.mark.parametrize("read", [Evidence.read, lambda path: list(read_batches(path, 1))])
def test_files_that_cannot_be_used_are_named_however_they_are_read(tmp_path: Path, read: Any) -> None:
    path = tmp_path / "e.parquet"
    make_evidence().to_frame().drop("id").write_parquet(path)
    with pytest.raises(BadInput, match="column 'id' is missing"):
        read(path)
    make_evidence().to_frame().head(0).write_parquet(path)
    with pytest.raises(BadInput, match="no instances"):
        read(path)
    make_evidence(n=200).write(path)
    content = bytearray(path.read_bytes())
    content[50 : len(content) // 2] = bytes(len(content) // 2 - 50)
    path.write_bytes(content)  # the footer is intact, the pages are not
    with pytest.raises(BadInput, match="not a readable Parquet file"):
        read(path)


def test_equal_tokens_share_one_string(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["a"], "tokens": [["x", "y", "x"]], "weights": [[0.5, 0.25, 0.25]], "output": [[0.5]]})
    tokens = Evidence.from_frame(frame).tokens.values
    assert tokens.tolist() == ["x", "y", "x"]
    assert tokens[0] is tokens[2]


def test_a_file_that_is_no_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "e.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(BadInput, match=r"e\.parquet: not a readable Parquet file"):
        Evidence.read(tmp_path / "e.parquet")
    with pytest.raises(BadInput, match="no such evidence file"):
        Evidence.read(tmp_path / "none.parquet")


def test_class_names_must_fit() -> None:
    with pytest.raises(BadInput, match="3 class names for 2 classes"):
        replace(make_evidence(), classes=("a", "b", "c")).validate()


def of_sentences() -> Evidence:
    """Two instances whose items are sentences, the second with an empty one."""
    weights = Ragged.from_rows([[0.5, 0.5], [1.0, 0.0]], dtype=np.float32)
    words = Ragged.from_rows([["a", "b", "c"], ["d"]], dtype=np.dtype(object))
    return Evidence(
        ids=["x", "y"],
        tokens=weights.like(np.array(["a b", "c", "d", ""], dtype=object)),
        weights=weights,
        output=np.full((2, 1), 0.5, dtype=np.float32),
        words=words,
        sentences=Ragged.from_rows([[2, 1], [1, 0]], dtype=np.int32),
    )


def test_words_and_sentences_are_kept(tmp_path: Path) -> None:
    evidence = of_sentences()
    evidence.write(tmp_path / "e.parquet")
    again = Evidence.read(tmp_path / "e.parquet")
    assert again.to_frame().equals(evidence.to_frame())
    schema = pl.read_parquet_schema(tmp_path / "e.parquet")
    assert (schema["words"], schema["sentences"]) == (pl.List(pl.String), pl.List(pl.Int32))
    part = again.slice(1, 2)
    assert part.words is not None
    assert part.words[0].tolist() == ["d"]


@pytest.mark.parametrize(
    ("words", "sentences", "problem"),
    [
        ([["a", "b", "c"], ["d"]], None, "column 'words' goes with 'sentences'"),
        ([["a", "b", "c"], ["d"]], [[2, 1], [1]], "instance 'y': 'sentences' and 'weights' have different lengths"),
        (
            [["a", "b"], ["d"]],
            [[2, 1], [1, 0]],
            "instance 'x': the lengths of its 'sentences' do not add up to its number of w",
        ),
        (None, [[2], [1]], "instance 'y': the lengths of its 'sentences' do not add up to its number of items"),
        (None, [[3, -1], [2]], "instance 'x': 'sentences' has a negative length"),
        (None, [[2**40], [2]], "instance 'x': 'sentences' has a negative length"),
        (None, [[2.0], [2.0]], "column 'sentences' holds Float64, not whole numbers"),
    ],
)
def test_sentences_that_do_not_fit_are_refused(words: Any, sentences: Any, problem: str) -> None:
    frame = of_sentences().to_frame().drop("words", "sentences")
    if words is not None:
        frame = frame.with_columns(words=pl.Series(words))
    if sentences is not None:
        frame = frame.with_columns(sentences=pl.Series(sentences))
    with pytest.raises(BadInput, match=re.escape(problem)):
        Evidence.from_frame(frame)


def test_sentences_of_items_need_no_words() -> None:
    frame = of_sentences().to_frame().drop("words").with_columns(sentences=pl.Series([[1, 1], [2]]))
    assert Evidence.from_frame(frame).sentences is not None
