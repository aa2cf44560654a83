"""A finished run audited with its model: the same figures, and the same answer, as the run's own."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import heedful
from heedful.adapters.checking import check
from heedful.adapters.trained import Trained, written
from heedful.audits.request import Request
from heedful.audits.run_sources import run_source, run_subject
from heedful.errors import BadConfig, NotFound
from heedful.models.inference import predict
from heedful.runs.directory import Run
from heedful.runs.model_setup import inputs_of
from heedful.verdict.verdict import Verdict
from tests.runs.small import VALUES
from tests.runs.test_answering import SMALL, write_cnn

_SIZES = {"train": 48, "dev": 12, "test": 24}
_MODELS: dict[str, dict[str, Any]] = {
    "bilstm": {},
    "flan": {"model": "flan", "encoder": "bigru", "encoder_options": {"hidden": 4}},
    "han": {"model": "han", "encoder": "cnn", "encoder_options": {"filters": 3}},
    "three classes": {"encoder": "average", "encoder_options": {}},
}


def trained(kind: str, out: Path, experiments: list[str]) -> Run:
    """A tiny run of some kind of model."""
    if kind == "answers":
        write_cnn(out / "data")
        options = {"data": out / "data", "vocabulary": {"min_documents": 2}, **SMALL}
        return heedful.run("cnn", out=out / "runs", experiments=experiments, **options)
    corpus = {**_SIZES, "classes": 3 if kind == "three classes" else 2, "verdicts": 2}
    values = {**VALUES, "corpus_options": corpus, "training": {"epochs": 3, "batch": 16}, **_MODELS[kind]}
    return heedful.run(out=out / "runs", experiments=experiments, **values)


def figures(verdict: Verdict) -> list[Any]:
    """What the answer rests on."""
    deciding = [each for each in verdict.criteria if each.decisive]
    return [(each.name, each.n, each.winnable, each.outcome, each.value and round(each.value, 3)) for each in deciding]


@pytest.mark.parametrize("kind", [*_MODELS, "answers"])
def test_an_audit_of_a_run_measures_what_the_run_measured(kind: str, tmp_path: Path) -> None:
    run = trained(kind, tmp_path, ["highlights", "truth"] if kind != "answers" else ["highlights"])
    audit = heedful.audit(run=run, out=tmp_path / "audits")
    own, theirs = run.evidence, audit.evidence
    assert (list(own.ids), own.tokens.values.tolist()) == (list(theirs.ids), theirs.tokens.values.tolist())
    assert np.allclose(own.weights.values, theirs.weights.values, atol=1e-5)
    assert np.array_equal(own.decisions, theirs.decisions)
    assert audit.metrics["accuracy"] == pytest.approx(run.metrics["test"]["accuracy"])
    measured = audit.results("highlights").rename(lambda name: name.replace("blank_", "unknown_"))
    assert_frame_equal(measured, run.results("highlights"), abs_tol=1e-4, check_column_order=False)
    figures = [
        [
            (c.name, c.n, c.winnable, c.outcome, c.value and round(c.value, 3))
            for c in each.verdict.criteria
            if c.decisive
        ]
        for each in (run, audit)
    ]
    assert figures[0] == figures[1]
    assert (audit.verdict.answer, audit.verdict.words) == (run.verdict.answer, run.verdict.words)
    if kind != "answers":
        assert_frame_equal(audit.results("truth"), run.results("truth"), abs_tol=1e-5)


@pytest.mark.parametrize("kind", [*_MODELS, "answers"])
def test_a_trained_model_keeps_the_contract_of_subjects(kind: str, tmp_path: Path) -> None:
    run = trained(kind, tmp_path, [])
    subject, rows = run_subject(run), list(run_source(run).rows())
    texts = subject.encode([row.text for row in rows])
    assert check(subject, texts).replays
    frame = pl.read_parquet(run.folder / "evidence.parquet")
    assert [row.id for row in rows] == frame["id"].to_list()
    one = texts.take([0])
    gone = np.zeros(len(one.names.values), dtype=bool)
    gone[0] = True
    inputs = inputs_of(frame[:1], run.vocabulary, sentences=run.config.hierarchical)
    shorter = predict(run.model(), inputs.keep(~gone))
    logits = subject.read(one.keep(~gone)).logits
    assert np.allclose(logits.argmax(axis=1) if logits.shape[1] > 1 else logits > 0, decided(shorter))


def decided(output: np.ndarray) -> np.ndarray:
    return output.argmax(axis=1) if output.shape[1] > 1 else output > 0.5


def test_texts_are_read_again_as_they_were_written(small_run: Run) -> None:
    odd = ["a b", "", "\\", "new\nline", "form\ffeed", "\\s", "plain"]
    subject = run_subject(small_run)
    assert subject.encode([written([odd], None, None)]).names.values.tolist() == odd
    assert isinstance(subject, Trained)


def test_seed_and_sample_are_those_of_the_run_unless_others_are_asked_for(
    copy_small_run: Callable[[Path], Run], tmp_path: Path
) -> None:
    run = copy_small_run(tmp_path)
    options, _ = Request(run=run.folder).resolved()
    assert (options.seed, options.sample) == (run.config.seed, "auto")
    options, _ = Request(run=run, seed=5, sample=7).resolved()
    assert (options.seed, options.sample) == (5, 7)
    other = heedful.run(**{**VALUES, "experiment_options": {"sample": 9}, "seed": 3}, out=tmp_path, experiments=[])
    options, _ = Request(run=other).resolved()
    assert (options.seed, options.sample) == (3, 9)


def test_what_does_not_go_with_a_run_is_refused(small_run: Run, tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="data is only for texts that a model reads; a run has its own"):
        Request(run=small_run, data="x.csv").resolved()
    with pytest.raises(BadConfig, match="run and evidence given; give exactly one"):
        Request(run=small_run, evidence="x.parquet").resolved()
    with pytest.raises(NotFound, match="is not a run directory"):
        Request(run=tmp_path).resolved()


def test_rationales_of_a_table_are_compared_as_in_the_run(tmp_path: Path) -> None:
    rows = [{"text": f"A   {'fine' if i % 2 else 'dull'}, film {i}!", "label": f"c{i % 2}"} for i in range(60)]
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    start = rows[0]["text"].index("dull")
    marks = [{"id": f"row-{i + 1}", "spans": [[start, start + 4]]} for i in range(60)]
    (tmp_path / "marks.jsonl").write_text("\n".join(map(json.dumps, marks)))
    options = {"file": str(tmp_path / "t.csv"), "tokens": "spaces"}
    small = {**SMALL, "importance": {"measures": ["gradient_input", "leave_one_out"]}}
    given = {"corpus_options": options, "out": tmp_path / "runs", "experiments": ["highlights"], **small}
    run = heedful.run("table", rationales=str(tmp_path / "marks.jsonl"), **given)
    audit = heedful.audit(run=run, rationales=str(tmp_path / "marks.jsonl"), out=tmp_path / "audits")
    own, theirs = run.results("plausibility"), audit.results("plausibility")
    shared = [name for name in own.columns if "attention" in name]
    assert shared
    assert_frame_equal(theirs.select("id", *shared), own.select("id", *shared), abs_tol=1e-5)


def test_a_copied_run_is_audited_without_its_corpus(copy_small_run: Callable[[Path], Run], tmp_path: Path) -> None:
    run = copy_small_run(tmp_path / "runs")
    moved = Path(shutil.move(run.folder, tmp_path / "elsewhere"))
    audit = heedful.audit(run=moved, sample=8, out=tmp_path)
    assert audit.options.model.name == "elsewhere"
    assert len(audit.results("highlights")) == 8
