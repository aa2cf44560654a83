"""Serrano & Smith's six models on a real sample of Yahoo! Answers: what the paper found is found here."""

from pathlib import Path

import polars as pl
import pytest

from heedful.experiments import claims, removal_wins
from heedful.findings.run_facts import several_sentences
from heedful.published import gradient_beats_attention
from heedful.runs.directory import Run
from heedful.runs.execution import perform

pytestmark = pytest.mark.slow

EXPERIMENTS = ["single_weight", "removal", "curves", "violation", "erasure"]
MODELS = [(model, encoder) for model in ("han", "flan") for encoder in ("bigru", "cnn", "none")]
FAR = 0.25  # between ours, of two topics, and the paper's, of ten


@pytest.fixture(
    scope="module", params=[(m, e) for m in ("han", "flan") for e in ("bigru", "cnn", "none")], ids="-".join
)
def run(request: pytest.FixtureRequest, real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    model, encoder = request.param
    values = {"corpus": "yahoo", "subset": True, "model": model, "encoder": encoder}
    training = {"epochs": 4, "learning_rate": 1e-3}  # a hundredth of the paper's data: larger steps
    options = {"sample": 20}
    return perform(
        {**values, "training": training, "experiment_options": options},
        out=tmp_path_factory.mktemp("runs"),
        data=real_data,
        experiments=EXPERIMENTS,
    )


def test_it_learns(run: Run) -> None:
    assert run.metrics["test"]["accuracy"] > 0.8
    assert run.corpus_label == "yahoo (subset)"


def test_the_papers_findings_hold(run: Run) -> None:
    found = claims(run.results("single_weight"), run.results("removal"), only=several_sentences(run))
    assert False not in found["holds"].to_list()
    assert found["holds"][0]  # most single removals change nothing


def test_gradient_beats_attention_about_as_often_as_in_the_paper(run: Run) -> None:
    config = run.config
    published = gradient_beats_attention(config.corpus, config.model, config.encoder)
    wins = removal_wins(run.results("removal"), only=several_sentences(run), draws=0)
    pair = wins.filter((pl.col("first") == "attention") & (pl.col("second") == "gradient")).row(0, named=True)
    ours = pair["second_wins"] / (pair["n"] + pair["neither"])
    assert published is None or abs(ours - published) < FAR


def test_no_ranking_is_better_than_the_optimum(run: Run) -> None:
    frame = run.results("removal")
    for name in ("attention", "gradient", "gradient_attention", "contribution", "random", "ascending"):
        assert (frame[f"{name}_excess"].drop_nulls() >= 0).all()
