"""Runs and audits are judged by one rule: same figures, same verdict, same page."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from polars.testing import assert_frame_equal

import heedful
from benchmarks.calibration.planted import written
from heedful.report.site.run_data import about_run
from heedful.runs.directory import Run
from heedful.verdict.criteria import QUESTIONS
from heedful.verdict.rule import judge
from heedful.verdict.signals import signals
from tests.audits.made import planted
from tests.making import make_evidence
from tests.report.made_run import made_run

TESTS = ("permutation", "substitution", "violation", "curves", "removal")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made_run(tmp_path_factory.mktemp("runs") / "made", planted("distracted").evidence(), experiments=TESTS)


def test_a_run_and_an_audit_of_its_evidence_have_the_same_verdict(run: Run, tmp_path: Path) -> None:
    audit = heedful.audit(evidence=run.evidence, seed=run.config.seed, out=tmp_path)
    assert run.verdict.to_json() == audit.verdict.to_json()
    assert run.verdict.answer in ("no", "not determined")
    assert_frame_equal(run.verdict.instances, audit.verdict.instances)
    assert run.verdict.tested


def test_a_runs_verdict_reads_some_columns_and_is_that_of_all(run: Run) -> None:
    frames = {name: run.results(name) for name in TESTS}
    judged = judge(signals(frames), classes=run.classes)
    assert run.verdict.to_json() == judged.to_json()
    assert_frame_equal(run.verdict.instances, judged.instances)


def test_the_page_of_a_run_shows_its_verdict(run: Run) -> None:
    verdict = run.verdict
    page = about_run(run, "key", ("corpus", "model"))["verdict"]
    assert (page["answer"], page["words"], page["limits"]) == (verdict.answer, verdict.words, list(verdict.limits))
    assert "instances" not in page
    shown = [(each["question"], each["value"], each["threshold"], each["outcome"]) for each in page["criteria"]]
    told = [each for each in verdict.criteria if each.decisive or each.n]
    texts = [(each.question, each.display(), each.outcome) for each in told]
    assert [len(criteria) for _, criteria in page["questions"]] == [sum(e.part == p for e in told) for p in QUESTIONS]
    assert shown == [(question, text["value"], text["threshold"], outcome) for question, text, outcome in texts]


@pytest.mark.parametrize("n", [8, 800])
def test_idle_attention_fails_if_there_are_enough_instances(n: int, tmp_path: Path) -> None:
    evidence = make_evidence(n=n, outputs=2)
    assert evidence.scores is not None
    evidence.scores.values[:] = evidence.scores.values[:1]  # all items say the same: attention is idle
    evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
    run = made_run(tmp_path / "made", evidence, experiments=("substitution", "permutation"))
    tested = [criterion for criterion in run.verdict.criteria if criterion.n]
    assert [(criterion.name, criterion.outcome) for criterion in tested] == [
        ("shuffling", "open" if n == 8 else "not met")
    ]
    assert run.verdict.answer == ("not determined" if n == 8 else "no")


def test_words_deleted_from_the_texts_of_a_run_count_as_in_an_audit(run: Run, tmp_path: Path) -> None:
    copy = made_run(tmp_path / "made", run.evidence, experiments=TESTS)
    subject = planted("distracted")
    audit = heedful.audit(subject, texts=written(subject.plan), ids=subject.ids, sample=0, out=tmp_path / "audits")
    audit.results("highlights").write_parquet(copy.folder / "results" / "highlights.parquet")
    copy.record(stages={**copy.manifest["stages"], "highlights": {"seconds": 0.0, "peak_memory_mb": 0}})
    assert copy.verdict.level == "input"
    figures = [
        [(c.name, c.value, c.low, c.high, c.n, c.outcome) for c in each.verdict.criteria if c.decisive]
        for each in (copy, audit)
    ]
    assert figures[0] == figures[1]
    assert copy.verdict.answer == audit.verdict.answer
