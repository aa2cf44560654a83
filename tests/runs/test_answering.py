"""Runs on corpora with queries: candidates, answers that training never saw, two classes, questions in a table."""

import json
from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import heedful
from heedful.errors import BadInput
from heedful.models.inference import predict
from heedful.report.terminal.run import run_summary
from heedful.runs.directory import Run
from heedful.runs.model_setup import inputs_of
from tests.making import as_older

SMALL = {"embedding": {"width": 8}, "encoder_options": {"hidden": 4}, "training": {"epochs": 1, "batch": 8}}


def write_cnn(folder: Path) -> None:
    """Articles of three entities each; the last test article is about one that training never saw."""
    (folder / "cnn").mkdir(parents=True)
    draw = np.random.default_rng(0)
    for name, articles in (("train", 24), ("dev", 6), ("test", 8)):
        blocks = []
        for index in range(articles):
            entities = [f"@entity{number}" for number in draw.choice(6, size=3, replace=False)]
            if name == "test" and index == articles - 1:
                entities = ["@entity99", *entities[1:]]
            words = [*entities, *draw.choice(["said", "on", "monday", "the", "."], size=6)]
            blocks.append(f"who is @placeholder ?\n{entities[0]}\n{' '.join(words)}\n")
        (folder / "cnn" / f"{name}.txt").write_text("\n".join(blocks))


@pytest.fixture(scope="module")
def answering(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("answering")
    write_cnn(folder / "data")
    return heedful.run("cnn", data=folder / "data", out=folder / "runs", vocabulary={"min_documents": 2}, **SMALL)


def test_every_experiment_but_reach_was_performed(answering: Run) -> None:
    for name in ("correlation", "permutation", "adversary", "substitution", "violation", "erasure", "highlights"):
        assert len(answering.results(name)) == 8
    assert not answering.done("reach")


def test_entities_are_words_however_rare_they_are(answering: Run) -> None:
    assert set(answering.classes) <= set(answering.vocabulary.words)
    assert "@placeholder" in answering.vocabulary.words  # it stands in every question, and in no article
    assert "@entity99" not in answering.vocabulary.words


def test_only_candidates_are_answered_and_an_unknown_answer_is_missed(answering: Run) -> None:
    evidence = answering.evidence
    assert evidence.labels[-1] == -1
    for tokens, output in zip(evidence.tokens, evidence.output, strict=True):
        named = [answering.classes.index(token) for token in tokens if token in answering.classes]
        assert np.flatnonzero(output).tolist() == sorted(named)
    right = evidence.decisions == evidence.labels
    assert answering.metrics["test"]["accuracy"] == pytest.approx(right.mean())
    own = heedful.experiments.substitution_scores(answering.results("substitution"))["accuracy"][0]
    assert own == pytest.approx(right.mean())


def test_evidence_is_what_the_stored_model_says(answering: Run) -> None:
    frame = pl.read_parquet(answering.folder / "evidence.parquet")
    output = predict(answering.model(), inputs_of(frame, answering.vocabulary))
    assert np.allclose(output, answering.evidence.output, atol=1e-5)
    assert frame["query"].list.join(" ").unique().to_list() == ["who is @placeholder ?"]


def test_questions_and_texts_start_from_other_vectors(answering: Run) -> None:
    model = answering.model()
    assert not np.allclose(model.embedding.detach(), model.question.embedding.detach())


def test_what_needs_an_affine_decoder_is_refused_by_name(answering: Run) -> None:
    with pytest.raises(BadInput, match="reach"):
        heedful.run(
            "cnn",
            data=answering.folder.parents[1] / "data",
            out=answering.folder.parent,
            experiments="reach",
            vocabulary={"min_documents": 2},
            **SMALL,
        )


def printed(run: Run) -> str:
    console = Console(width=120, record=True, file=StringIO())
    console.print(run_summary(run, verbose=True))
    return console.export_text()


def test_runs_of_earlier_versions_can_still_be_summed_up(answering: Run) -> None:
    manifest = answering.folder / "manifest.json"
    text = manifest.read_text()
    now = printed(answering)
    older = json.loads((as_older(answering.folder) / "manifest.json").read_text())
    for key in ("sizes", "query", "candidates"):
        del older["corpus"][key]
    try:
        manifest.write_text(json.dumps(older))
        before = printed(Run.open(answering.folder))
    finally:
        manifest.write_text(text)
    assert "bilstm + additive on cnn" in before
    assert before.splitlines()[-3:] == now.splitlines()[-3:]  # what the experiments found is told the same way


@pytest.mark.parametrize("classes", [2, 3])
def test_a_table_with_questions(classes: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    rows = [
        {
            "text": f"word{draw.integers(9)} and more",
            "ask": f"is it {draw.integers(9)} ?",
            "label": f"c{index % classes}",
        }
        for index in range(60)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "pairs.csv")
    options = {"file": str(tmp_path / "pairs.csv"), "query": "ask", "tokens": "spaces"}
    run = heedful.run("table", corpus_options=options, out=tmp_path, **SMALL)
    assert run.evidence.output.shape[1] == classes
    assert run.evidence.features is not None
    assert run.evidence.scores is None
    assert len(run.results("adversary")) == len(run.evidence)
