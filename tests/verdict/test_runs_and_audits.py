"""Runs and audits are judged by one rule: same figures, same verdict, same page."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import heedful
from heedful.report.site.run_data import about_run
from heedful.runs.directory import Run
from heedful.verdict.rule import FEW, judge
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
    assert_frame_equal(run.verdict.instances, audit.verdict.instances)
    assert run.verdict.tested


def test_a_runs_verdict_reads_some_columns_and_is_that_of_all(run: Run) -> None:
    frames = {name: run.results(name) for name in TESTS}
    judged = judge(signals(frames), seed=run.config.seed)
    assert run.verdict.to_json() == judged.to_json()
    assert_frame_equal(run.verdict.instances, judged.instances)


def test_the_page_of_a_run_shows_its_verdict(run: Run) -> None:
    verdict = run.verdict
    page = about_run(run, "key", ("corpus", "model"))["verdict"]
    assert (page["answer"], page["words"], page["limits"]) == (verdict.answer, verdict.words, list(verdict.limits))
    assert "instances" not in page
    shown = [(each["question"], each["value"], each["threshold"], each["outcome"]) for each in page["criteria"]]
    texts = [(each.question, each.display(), each.outcome) for each in verdict.criteria]
    assert shown == [(question, text["value"], text["threshold"], outcome) for question, text, outcome in texts]


@pytest.mark.parametrize("n", [FEW - 1, FEW])
def test_idle_attention_fails_if_there_are_enough_instances(n: int, tmp_path: Path) -> None:
    evidence = make_evidence(n=n, outputs=2)
    assert evidence.scores is not None
    evidence.scores.values[:] = evidence.scores.values[:1]  # all items say the same: attention is idle
    evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
    run = made_run(tmp_path / "made", evidence, experiments=("substitution", "permutation"))
    tested = [criterion for criterion in run.verdict.criteria if criterion.n]
    assert [criterion.name for criterion in tested] == ["permutation", "replacement"]
    assert {criterion.outcome for criterion in tested} == {"open" if n < FEW else "not met"}
    assert all(("too few" in criterion.words) == (n < FEW) for criterion in tested)
    assert run.verdict.answer == ("with caution" if n < FEW else "no")


def test_words_erased_from_the_texts_of_a_run_count_as_in_an_audit(run: Run, tmp_path: Path) -> None:
    copy = made_run(tmp_path / "made", run.evidence, experiments=TESTS)
    curves = run.results("curves").select("id", "items", pl.col("^.*_comprehensiveness(_at)?$").name.prefix("delete_"))
    curves.write_parquet(copy.folder / "results" / "erasure.parquet")
    copy.record(stages={**copy.manifest["stages"], "erasure": {"seconds": 0.0, "peak_memory_mb": 0}})
    assert copy.verdict.level == "input"
    figures = [[(c.name, c.value, c.low, c.high, c.n) for c in each.verdict.criteria] for each in (run, copy)]
    assert figures[0] == figures[1]
