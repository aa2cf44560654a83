"""What runs are called: no two alike."""

from pathlib import Path
from typing import Any

from heedful.findings.labels import differences, labels
from heedful.runs.config import resolve
from heedful.runs.directory import Run


def _run(folder: str = "", **values: Any) -> Run:
    config = resolve({"corpus": "planted", **values})
    return Run(Path(folder or config.name), config)


def test_runs_are_called_by_corpus_and_model() -> None:
    assert labels([_run()]) == [("planted", "bilstm + additive")]
    told = labels([_run(), _run(attention="dot"), _run(corpus="babi-1-simulated")])
    assert told == [
        ("planted", "bilstm + additive"),
        ("planted", "bilstm + dot"),
        ("babi-1-simulated", "bilstm + additive"),
    ]


def test_seed_then_preset_tell_runs_apart() -> None:
    runs = [_run(), _run(seed=1), _run(seed=1, preset="released"), _run(attention="dot")]
    assert [model for _, model in labels(runs)] == [
        "bilstm + additive, seed 0",
        "bilstm + additive, seed 1, paper",
        "bilstm + additive, seed 1, released",
        "bilstm + dot",
    ]


def test_corpora_of_one_name_are_told_apart_by_their_options_rather_than_their_sizes() -> None:
    runs = [
        _run(),
        _run(corpus_options={"classes": 3, "length": 30, "test": 100}),
        _run(corpus_options={"length": 30, "test": 100}),
    ]
    assert [corpus for corpus, _ in labels(runs)] == [
        "planted (classes 2, length 24)",
        "planted (classes 3, length 30)",
        "planted (classes 2, length 30)",
    ]
    sizes = [_run(), _run(corpus_options={"test": 7})]
    assert [corpus for corpus, _ in labels(sizes)] == ["planted (test 500)", "planted (test 7)"]


def test_settings_tell_runs_apart() -> None:
    runs = [_run(training={"epochs": 3}), _run(training={"epochs": 4}), _run(encoder="cnn")]
    assert [model for _, model in labels(runs)] == [
        "bilstm + additive, epochs 3",
        "bilstm + additive, epochs 4",
        "cnn + additive",
    ]


def test_what_is_the_same_in_everything_is_numbered() -> None:
    runs = [_run("x/a-12345678"), _run("x/b-87654321"), _run("y/a-12345678")]
    assert [model for _, model in labels(runs)] == [
        "bilstm + additive, 12345678 (1)",
        "bilstm + additive, 87654321",
        "bilstm + additive, 12345678 (2)",
    ]


def test_many_differences_are_not_spelled_out() -> None:
    values = [{name: (index >> place) & 1 for place, name in enumerate("abcd")} for index in range(16)]
    assert differences(values) == [""] * 16


def test_names_are_printable() -> None:
    runs = [_run(embedding={"vectors": f"{letter}\x1b.vec"}) for letter in "ab"]
    assert [model for _, model in labels(runs)] == [f"bilstm + additive, vectors {x}\\x1b.vec" for x in "ab"]
