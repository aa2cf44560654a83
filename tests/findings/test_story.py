"""The texts that a site begins with, and how often decisions stay."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.files import write_parquet
from heedful.findings.story import CONFIDENT, TEXTS, WORDS, changes, story, texts
from heedful.runs.directory import STAGES, Run
from heedful.verdict.verdict import Verdict
from tests.making import make_evidence
from tests.report.made_run import made_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made_run(tmp_path / "made", make_evidence(n=200, longest=60, outputs=2))


def answered(verdict: Verdict, answer: str, ids: list[str]) -> Verdict:
    """The verdict with another answer, which these texts have, too."""
    values = {"id": ids, "decision": [0] * len(ids), "answer": [answer] * len(ids), "reasons": [[] for _ in ids]}
    kinds = {"id": pl.String(), "decision": pl.Int32(), "answer": pl.String(), "reasons": pl.List(pl.String)}
    table = pl.LazyFrame(values, schema=kinds)
    return replace(verdict, answer=answer, table=table)  # type: ignore[arg-type]


def test_the_most_replaceable_readable_text_that_is_right_comes_first(run: Run) -> None:
    found = texts(run, run.verdict)
    evidence, frame = run.evidence, run.results("adversary")
    assert len(found) == TEXTS
    lengths = np.array([len(tokens) for tokens in evidence.tokens])
    assert evidence.labels is not None
    fit = (
        (lengths >= WORDS[0])
        & (lengths <= WORDS[1])
        & (evidence.decisions == evidence.labels)
        & (evidence.output.max(axis=1) >= CONFIDENT)
    )
    assert fit.sum() > TEXTS
    best = max(np.flatnonzero(fit), key=lambda row: frame["jsd"][int(row)])
    assert found[0].index == best
    assert found[0].id == evidence.ids[best]
    assert found[0].other == "adversarial"
    assert found[0].moved == pytest.approx(frame["tvd"][int(best)])
    assert found[0].decision == frame["adversary_decision"][int(best)]


def test_texts_with_the_answer_of_the_model_come_before_others(run: Run) -> None:
    plain = texts(run, run.verdict)
    own = [told.id for told in plain[3:]]
    assert [told.id for told in texts(run, answered(run.verdict, "no", own))[:2]] == own


def test_where_attention_is_faithful_its_words_lose_it(run: Run) -> None:
    evidence = run.evidence
    fall = np.linspace(0, 0.9, len(evidence))
    highlighted = [[1, min(3, len(tokens))] for tokens in evidence.tokens]
    columns = {"id": list(evidence.ids), "weights_attention": fall, "highlighted": highlighted}
    verdict = answered(run.verdict, "yes", [])  # of the other results: this frame could not be judged
    write_parquet(run.folder / STAGES["highlights"].files[0], pl.DataFrame(columns))
    manifest = run.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"removal"', '"highlights": {"seconds": 0.0}, "removal"'))
    found = texts(Run.open(run.folder), verdict)
    assert found[0].other == "unattended"
    assert [told.moved for told in found] == sorted((told.moved for told in found), reverse=True)
    weights = evidence.weights[found[0].index]
    assert sorted(weights[found[0].items]) == sorted(np.sort(weights)[-3:])


def test_without_adversary_the_other_map_is_uniform_and_without_anything_there_is_none(tmp_path: Path) -> None:
    evidence = make_evidence(n=30)
    run = made_run(tmp_path / "uniform", evidence, experiments=("substitution",))
    found = texts(run, run.verdict)
    assert {told.other for told in found} == {"uniform"}
    untested = made_run(tmp_path / "untested", evidence, experiments=())
    assert {told.other for told in texts(untested, untested.verdict)} == {None}
    assert changes(untested) == []


def test_texts_of_one_item_have_no_other_map(tmp_path: Path) -> None:
    run = made_run(tmp_path / "single", make_evidence(n=4, longest=1))
    assert {told.other for told in texts(run, run.verdict)} == {None}


def test_changes_count_the_texts_whose_decision_stays(run: Run) -> None:
    found = {change.name: change for change in changes(run)}
    assert found["uniform"].kept == (~run.results("substitution")["uniform_changed"]).sum()
    assert found["shuffled"].kept == (run.results("permutation")["changed"] == 0).sum()
    assert found["any"].kept == (~run.results("reach")["can_change"]).sum()
    assert {change.n for change in found.values()} <= set(range(1, 201))


def test_a_story_is_plain_values(run: Run) -> None:
    told = story(run, run.verdict)
    assert set(told) == {"texts", "changes"}
    assert all(isinstance(value, int | str | list | float | None) for text in told["texts"] for value in text.values())
