"""Runs of flat and hierarchical models: what they leave, that they resume, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from heedful.errors import BadConfig, BadInput
from heedful.models.documents import Flan, Han
from heedful.models.inference import predict
from heedful.progress import Reporter
from heedful.ragged import Ragged
from heedful.report.heatmaps.instance import read_text
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from heedful.runs.execution import perform
from heedful.runs.model_setup import inputs_of
from tests.runs.small import VALUES, contents

DOCUMENTS = {key: value for key, value in VALUES.items() if key != "encoder_options"}
EVERY_MODEL = [(model, encoder) for model in ("han", "flan") for encoder in ("bigru", "cnn", "none")]


@pytest.fixture(scope="module", params=EVERY_MODEL, ids="-".join)
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    model, encoder = request.param
    return perform({**DOCUMENTS, "model": model, "encoder": encoder}, out=tmp_path_factory.mktemp("runs"))


def test_the_papers_six_models_run(finished: Run) -> None:
    config = finished.config
    assert finished.folder.name.startswith(f"planted-{config.model}-{config.encoder}-additive-0-")
    assert isinstance(finished.model(), Han if config.model == "han" else Flan)
    assert len(finished.results("removal")) == len(finished.results("single_weight")) == 30
    assert len(finished.results("erasure")) == len(finished.results("highlights")) == 30


def test_evidence_is_what_the_stored_model_says(finished: Run) -> None:
    evidence = finished.evidence
    hierarchical = finished.config.hierarchical
    inputs = inputs_of(evidence.to_frame(), finished.vocabulary, sentences=hierarchical)
    assert np.allclose(predict(finished.model(), inputs), evidence.output, atol=1e-5)
    assert np.allclose(evidence.decode(evidence.weights), evidence.output, atol=1e-5)
    assert evidence.sentences is not None
    if hierarchical:
        assert evidence.words is not None
        assert np.array_equal(evidence.sentences.lengths, evidence.weights.lengths)
        sentences = Ragged.from_lengths(evidence.words.values, evidence.sentences.values)
        assert evidence.tokens.values.tolist() == [" ".join(sentence) for sentence in sentences]
        assert evidence.tokens[0][0].endswith(" .")
    else:
        assert evidence.words is None
        assert evidence.sentences.sum().tolist() == evidence.weights.lengths.tolist()


def test_a_sentence_decides_if_a_word_of_it_does(finished: Run) -> None:
    evidence = finished.evidence
    assert evidence.truth is not None
    if finished.config.hierarchical:
        assert (evidence.truth.sum() == 1).all()  # one verdict a review
    assert finished.results("truth")["top"].null_count() == 0


def test_importance_is_of_the_items(finished: Run) -> None:
    lengths = finished.importance["values"].list.len().to_list()
    assert lengths == finished.evidence.weights.lengths.tolist()


def test_any_text_is_read_as_the_corpus_was(finished: Run) -> None:
    shown = read_text(finished, "The plot was not dreadful. We went on Monday with my aunt.", None)
    first = "the plot was not dreadful ." if finished.config.hierarchical else "the"
    assert shown.tokens[0] == first
    assert sum(shown.weights) == pytest.approx(1, abs=1e-5)


class Killed(Exception):
    pass


class Killer(Reporter):
    """Ends the run the so manieth time that it reports."""

    def __init__(self, moment: int) -> None:
        self.left = moment

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        self.left -= 1
        if not self.left:
            raise Killed


def test_a_run_killed_at_any_report_ends_the_same(tmp_path: Path) -> None:
    values: dict[str, Any] = {**DOCUMENTS, "model": "han", "encoder": "bigru", "experiment_options": {"sample": 20}}
    names = ["removal", "single_weight", "curves", "erasure", "highlights"]
    expected = contents(perform(values, out=tmp_path / "whole", experiments=names).folder)
    for moment in range(1, 100):
        try:
            run = perform(values, out=tmp_path / "killed", experiments=names, reporter=Killer(moment))
            break
        except Killed:
            continue
    assert moment > 5  # each time it gets further
    assert contents(run.folder) == expected


@pytest.mark.parametrize("name", ["erasure", "highlights"])
def test_what_re_runs_the_model_is_of_a_sample_that_does_not_depend_on_order(tmp_path: Path, name: str) -> None:
    values = {**DOCUMENTS, "model": "flan", "encoder": "none", "experiment_options": {"sample": 12}}
    frame = perform(values, out=tmp_path, experiments=[name]).results(name)
    assert len(frame) == frame["id"].n_unique() == 12
    assert frame["id"].to_list() == sorted(frame["id"])  # in the order of the evidence
    assert frame["id"].to_list() != [f"test-{index:05d}" for index in range(12)]  # drawn, not the first
    every = {**values, "experiment_options": {"sample": 0}}
    whole = perform(every, out=tmp_path, experiments=[name]).results(name)
    assert len(whole) == 30
    assert_frame_equal(whole.filter(pl.col("id").is_in(frame["id"].implode())), frame, abs_tol=1e-5)


def test_a_table_of_texts_feeds_a_hierarchical_model(tmp_path: Path) -> None:
    rows = ["It is fine. We went at 9 on Monday!", "Dull. Very dull. No."] * 20
    labels = ["good", "bad"] * 20
    pl.DataFrame({"text": rows, "label": labels}).write_csv(tmp_path / "r.csv")
    values = {**DOCUMENTS, "corpus": "table", "corpus_options": {"file": str(tmp_path / "r.csv")}, "model": "han"}
    run = perform(values, out=tmp_path / "runs", experiments=["removal"])
    assert run.config.encoder == "bigru"
    assert run.config.corpus_options["sentences"] == "sentencizer"
    tokens = {tuple(row) for row in run.evidence.to_frame()["tokens"].to_list()}
    assert tokens == {("it is fine .", "we went at qqq on monday !"), ("dull .", "very dull .", "no .")}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"corpus": "sst", "model": "han"}, "model han reads sentences, and the texts of corpus sst are not split"),
        ({"corpus": "snli", "model": "flan"}, "model flan does not read questions, which corpus snli has"),
        ({"training": {"item_dropout": 0.5}}, "training.item_dropout: model classifier has no such dropout"),
        ({"model": "flan", "training": {"word_dropout": 0.5}}, "training.word_dropout: model flan has no such dropout"),
        ({"experiment_options": {"rankings": ["atention"]}}, "'atention'.*attention"),
        ({"experiment_options": {"sample": -1}}, "experiment_options.sample = -1"),
        ({"model": "hann"}, r"unknown model 'hann' \(did you mean 'han'"),
    ],
)
def test_what_a_model_cannot_do_is_refused(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadConfig, match=problem):
        resolve({"corpus": "planted", **values})


def test_more_classes_in_test_than_in_training(tmp_path: Path) -> None:
    rows = [("Fine. Good.", "good", "train"), ("Bad.", "bad", "train")] * 10 + [("So. So.", "middling", "test")]
    lines = [json.dumps(dict(zip(("text", "label", "split"), row, strict=True))) for row in rows]
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    options = {"file": str(tmp_path / "r.jsonl"), "split": "split"}
    with pytest.raises(BadInput, match="label 'middling' occurs in test but never in training"):
        perform({**DOCUMENTS, "corpus": "table", "corpus_options": options, "model": "han"}, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("corpus", "model", "encoder", "expected"),
    [
        ("yahoo", "han", "bigru", (4e-4, 15, 5, 10, 0, 0, 0.444467, 0.220164, 0.374868, 1000)),
        ("yahoo", "flan", "none", (4e-4, 60, 10, 10, 0, 0, 0, 0.444467, 0.445736, 15000)),
        ("imdb-ratings", "han", "none", (4e-4, 60, 10, 10, 0, 0, 0.444467, 0.220164, 0.245736, 2000)),
        ("imdb-ratings", "flan", "cnn", (4e-4, 15, 5, 10, 0, 0, 0, 0.444467, 0.345736, 20000)),
        ("amazon", "han", "bigru", (2e-4, 60, 5, 0, 50, 0, 0.6, 0.2, 0.4, 9000)),
        ("amazon", "flan", "cnn", (2e-4, 60, 5, 10, 0, 0, 0, 0.6, 0.4, 135000)),
        ("yelp", "han", "none", (1e-4, 60, 10, 0, 50, 1, 0.7, 0.1, 0.7, 6000)),
        ("yelp", "han", "cnn", (1e-4, 60, 5, 10, 0, 0, 0.7, 0.1, 0.7, 6000)),
        ("yelp", "flan", "bigru", (1e-4, 60, 5, 0, 50, 0, 0, 0.7, 0.7, 90000)),
    ],
)
def test_presets_are_those_of_the_released_settings(
    corpus: str, model: str, encoder: str, expected: tuple[float, ...]
) -> None:
    config = resolve({"corpus": corpus, "model": model, "encoder": encoder})
    training = config.training
    assert (
        training.learning_rate,
        training.epochs,
        training.patience,
        training.clip_norm,
        training.clip_value,
        training.max_norm,
        training.word_dropout,
        training.item_dropout,
        training.logit_dropout,
        training.batch_tokens,
    ) == expected
    assert (training.batch, training.decay, training.select, training.l2) == (64, 0.5, "accuracy", 0)
    assert (config.embedding.width, config.embedding.vectors) == (200, "word2vec")
    assert (config.vocabulary.min_count, config.vocabulary.splits) == (5, ("train", "dev"))
    assert config.embedding.word2vec_epochs == (30 if corpus in ("amazon", "yelp") else 5)


def test_both_presets_train_the_same_way() -> None:
    values = {"corpus": "yelp", "model": "han"}
    paper, released = (resolve({**values, "preset": preset}) for preset in ("paper", "released"))
    assert paper.model_copy(update={"preset": "released"}) == released
