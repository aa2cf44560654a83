"""Which published figures may stand beside a run's."""

from pathlib import Path
from typing import Any

import pytest

from heedful.findings.published import (
    measures_taken,
    published_corpus,
    published_performance,
    published_tau,
    published_wins,
)
from heedful.published import table1
from heedful.runs.config import resolve
from heedful.runs.directory import Run


def _run(corpus: str, **values: Any) -> Run:
    return Run(Path("nowhere"), resolve({"corpus": corpus, **values}))


def test_table_1_is_read_by_corpus() -> None:
    sst, cnn = table1("sst"), table1("cnn")
    assert sst is not None
    assert sst == (16175, 19, (3034, 3321), (863, 862), 0.81, "f1")
    assert cnn is not None
    assert (cnn.train, cnn.test, cnn.metric) == ((380298,), (3198,), "accuracy")
    assert table1("planted") is None


def test_taus_are_those_of_the_same_model() -> None:
    assert published_tau(_run("sst"), "gradient", 0) == (0.40, 0.21, 0.59)
    assert published_tau(_run("sst", attention="dot"), "gradient", 0) is None
    assert published_tau(_run("imdb", model="flan", encoder="bilstm"), "gradient", 0) is None
    assert published_tau(_run("babi-1"), "gradient", None) is not None
    assert published_tau(_run("babi-1", corpus_options={"training": "1k"}), "gradient", None) is None
    assert published_tau(_run("snli"), "gradient", 0) is not None
    assert published_tau(_run("snli", preset="released"), "gradient", 0) is None  # another order of classes


def test_performance_is_that_of_the_bilstm() -> None:
    assert published_performance(_run("sst")) == 0.81
    assert published_performance(_run("sst", encoder="cnn")) is None
    assert published_corpus(_run("sst", encoder="cnn")) is not None
    assert published_corpus(_run("mimic-anemia", preset="released")) is None
    assert published_performance(_run("planted")) is None


def test_wins_are_those_of_additive_attention() -> None:
    assert published_wins(_run("yelp", model="flan")) == pytest.approx(0.7056, abs=1e-4)
    assert published_wins(_run("yelp", model="flan", attention="dot")) is None


def test_the_papers_measures_come_first_and_others_if_there_are_none() -> None:
    columns = ["tau_attention_integrated_gradients", "tau_attention_leave_one_out", "tau_gradient_leave_one_out"]
    assert measures_taken(columns) == ["leave_one_out"]
    assert measures_taken(columns[:1]) == ["integrated_gradients"]
