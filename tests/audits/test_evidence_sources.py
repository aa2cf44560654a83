"""Audits of evidence that somebody else wrote, and importance from elsewhere."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import heedful
from heedful.audits.evidence_sources import evidence_source
from heedful.errors import BadInput, NotFound
from tests.audits.made import assert_same, planted


def evidence_file(folder: Path, kind: str = "faithful") -> Path:
    planted(kind).evidence().write(folder / "mine.parquet")
    return folder / "mine.parquet"


def json_file(folder: Path) -> Path:
    frame = planted().evidence().to_frame()
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
    return path


def importance_of(path: Path, **methods: object) -> pl.DataFrame:
    """Importance as somebody might have measured it: what each item says for the decision, and the opposite."""
    evidence = heedful.Evidence.read(path)
    assert evidence.scores is not None
    chosen = evidence.scores.values[
        np.arange(len(evidence.scores.values)), evidence.decisions[evidence.scores.row_of_value]
    ]
    rows = []
    for name, sign in (("theirs", 1), ("opposite", -1)):
        for key, tokens, values in zip(evidence.ids, evidence.tokens, evidence.scores.like(sign * chosen), strict=True):
            rows.append({"id": key, "method": name, "values": values.tolist(), "tokens": tokens.tolist()})
    return pl.DataFrame(rows)


def test_evidence_with_scores_is_tested_exactly_on_all_instances(tmp_path: Path) -> None:
    path = evidence_file(tmp_path)
    done = heedful.audit(evidence=path, out=tmp_path / "audits")
    assert done.options.route == "evidence"
    assert done.folder.name.startswith("mine-")
    assert set(done.tests) >= {"permutation", "adversary", "reach", "curves", "violation"}
    assert len(done.results("permutation")) == 34
    assert done.verdict.level == "attention"
    assert done.verdict.answer == "not determined"  # no text was changed, so that it cannot be a yes
    assert done.metrics == {}
    expected = heedful.experiments.permutation(heedful.Evidence.read(path), seed=0)
    assert done.results("permutation").equals(expected)


def test_parquet_json_lines_and_memory_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.audits.evidence_sources.ROWS", 10)
    path = evidence_file(tmp_path)
    importance = importance_of(path).drop("tokens")
    given: list[object] = [path, json_file(tmp_path), heedful.Evidence.read(path)]
    first, *others = (
        heedful.audit(evidence=each, importance=importance, out=tmp_path / str(number))  # type: ignore[arg-type]
        for number, each in enumerate(given)
    )
    for other in others:
        assert_same(first, other)


def test_importance_from_elsewhere_is_raced(tmp_path: Path) -> None:
    path = evidence_file(tmp_path)
    importance_of(path).write_parquet(tmp_path / "theirs.parquet")
    done = heedful.audit(evidence=path, importance=tmp_path / "theirs.parquet", out=tmp_path / "audits")
    curves, signals = done.results("curves"), done.signals
    assert curves["theirs_comprehensiveness"].mean() > curves["opposite_comprehensiveness"].mean()
    assert {"theirs_gain", "opposite_gain"} <= set(signals.columns)
    assert "tau_attention_theirs" in done.results("correlation").columns
    assert set(done.importance["measure"]) == {"theirs", "opposite"}


@pytest.mark.parametrize("rows", [1, 7, 4096])
def test_importance_from_elsewhere_may_have_any_order(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.audits.given_importance.ROWS", rows)
    monkeypatch.setattr("heedful.audits.given_importance.RANGES", 5)
    path = evidence_file(tmp_path)
    theirs = importance_of(path)
    strange = theirs.head(2).with_columns(id=pl.lit("of another instance"))
    shuffled = pl.concat([theirs, strange]).sample(fraction=1, shuffle=True, seed=3)
    done = heedful.audit(evidence=path, importance=shuffled, out=tmp_path / "audits")
    ids = pl.DataFrame({"id": done.evidence.ids}).with_row_index("row")
    methods = pl.Enum(shuffled["method"].unique(maintain_order=True))
    plain = (
        ids.join(theirs, on="id").sort("row", pl.col("method").cast(methods)).select("row", "id", "method", "values")
    )
    assert_frame_equal(pl.read_parquet(done.folder / "given.parquet"), plain)
    assert sorted(done.importance["values"].to_list()) == sorted(theirs["values"].cast(pl.List(pl.Float32)).to_list())


def test_importance_from_elsewhere_is_raced_where_there_is_a_model(tmp_path: Path) -> None:
    subject = planted()
    texts = [" ".join(names) for names in subject.texts.names][:12]
    rows = [
        {"id": f"row-{row}", "method": "place", "values": [float(place) for place in range(len(text.split()))]}
        for row, text in enumerate(texts, start=1)
    ]
    done = heedful.audit(subject, texts=texts, importance=pl.DataFrame(rows), sample=5, out=tmp_path)
    assert done.results("erasure")["delete_place_comprehensiveness"].null_count() == 0
    assert "place" in set(done.importance["measure"])
    counts = done.importance.group_by("id").len()["len"]
    assert len(counts) == 5
    assert counts.n_unique() == 1


def test_evidence_without_scores_needs_importance(tmp_path: Path) -> None:
    path = evidence_file(tmp_path)
    bare = tmp_path / "bare.parquet"
    pl.read_parquet(path).drop("scores", "bias").write_parquet(bare)
    with pytest.raises(BadInput, match="nothing can be tested"):
        heedful.audit(evidence=bare, out=tmp_path / "audits")
    done = heedful.audit(evidence=bare, importance=importance_of(path), out=tmp_path / "audits")
    assert done.tests == ["correlation"]
    assert done.verdict.answer == "not determined"
    assert {criterion.outcome for criterion in done.verdict.criteria} == {"untested"}


def _change(**columns: pl.Expr):  # type: ignore[no-untyped-def]
    return lambda frame: frame.with_columns(**columns)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.drop("values"), "no column 'values'"),
        (lambda frame: frame.filter(pl.col("id") != "text-0003"), "no row for instance 'text-0003'"),
        (lambda frame: pl.concat([frame, frame.head(1)]), "several rows"),
        (_change(method=pl.lit("attention")), "'attention' is the name of one of heedful's own"),
        (_change(method=pl.lit("<b>")), "not a valid method name"),
        (_change(values=pl.col("values").list.head(1)), "number of values differs"),
        (_change(tokens=pl.col("tokens").list.reverse()), "tokens differ"),
        (_change(values=pl.col("values").list.eval(pl.element() / 0)), "NaN or infinite"),
    ],
)
def test_importance_that_does_not_fit_is_refused(change, words: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = evidence_file(tmp_path)
    with pytest.raises(BadInput, match=words):
        heedful.audit(evidence=path, importance=change(importance_of(path)), out=tmp_path / "audits")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 3: not JSON"),
        ('{"id": "x", "tokens": ["a"], "weights": [1.0], "output": [0.5, 0.5]}', "line 3: lacks 'scores'"),
        (
            '{"id": "x", "tokens": "a", "weights": [1], "scores": [[0, 0]], "bias": [0, 0], "output": [0.5, 0.5]}',
            "line 3: 'tokens' is not",
        ),
        (
            '{"id": "x", "tokens": ["a"], "weights": [0.7], "scores": [[0, 0]], "bias": [0, 0], "output": [0.5, 0.5]}',
            "'x': 'weights' sum to 0.7",
        ),
    ],
)
def test_json_lines_that_are_wrong_are_named(line: str, words: str, tmp_path: Path) -> None:
    path = json_file(tmp_path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]) + line + "\n")
    with pytest.raises(BadInput, match=words):
        heedful.audit(evidence=path, out=tmp_path / "audits")
    assert not list((tmp_path / "audits").rglob("*.parquet"))


def test_files_that_are_no_evidence_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such evidence file"):
        evidence_source(tmp_path / "none.parquet")
    (tmp_path / "mine.csv").write_text("id\n")
    with pytest.raises(BadInput, match=r"valid: \.parquet, \.jsonl"):
        evidence_source(tmp_path / "mine.csv")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(BadInput, match="no instances"):
        evidence_source(tmp_path / "empty.jsonl")


def test_half_a_surrogate_pair_is_named(tmp_path: Path) -> None:
    row = {"id": "a", "tokens": ["x", "\ud800"], "weights": [0.5, 0.5], "output": [0.2, 0.8]}
    (tmp_path / "e.jsonl").write_text(json.dumps(row))
    with pytest.raises(BadInput, match=r"e\.jsonl, line 1: 'tokens' is not a list of UTF-8 text"):
        evidence_source(tmp_path / "e.jsonl")
