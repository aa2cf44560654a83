"""Rationales beside a run on a table: words that people marked against its attention."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import heedful as library
from heedful.errors import BadConfig, BadInput, NotFound
from heedful.experiments.plausibility import ranking_names
from heedful.runs.plausibility import plausibility_of
from tests.cli.calling import heedful

SMALL: dict[str, Any] = {
    "embedding": {"width": 8},
    "encoder": "average",
    "training": {"epochs": 2, "batch": 16},
    "experiments": ["permutation"],
}
ROWS = 60


def _table(folder: Path) -> Path:
    """Texts with numbers and capitals, of which one word is marked in most."""
    rows = []
    for row in range(ROWS):
        word = "Good" if row % 2 else "Bad"
        text = f"The {'very ' * (row % 3)}film, no. {row}, was {word}!"
        start = text.index(word)
        why = None if row % 10 == 9 else [[start, start + len(word)]]
        rows.append({"key": f"text-{row}", "text": text, "label": word, "why": why})
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _run(folder: Path, **options: Any) -> library.Run:
    given = {"file": str(folder / "mine.jsonl"), "id": "key"}
    return library.run("table", out=folder / "runs", corpus_options=given, **SMALL, **options)


def test_a_column_of_the_table_is_compared_with_attention(tmp_path: Path) -> None:
    _table(tmp_path)
    plain = _run(tmp_path)
    assert plausibility_of(plain) is None
    verdict = plain.verdict.to_json()
    run = _run(tmp_path, rationales="why")
    assert run.folder == plain.folder  # the model is not trained again
    frame = run.results("plausibility")
    assert ranking_names(frame)[:3] == ["attention", "random", "gradient"]
    assert frame["id"].to_list() == list(run.evidence.ids)
    asked = [int(name.split("-")[1]) % 10 != 9 for name in frame["id"]]
    assert frame["marked"].to_list() == [int(each) for each in asked]
    evidence = run.evidence
    for tokens, weights, f1 in zip(evidence.tokens, evidence.weights, frame["attention_f1"], strict=True):
        assert f1 is None or f1 == float(tokens[weights.argmax()] in ("good", "bad"))
    assert run.verdict.to_json() == verdict
    told = plausibility_of(run)
    assert told is not None
    assert f"({sum(asked)} texts with rationales)" in told.words


def test_other_rationales_are_compared_again(tmp_path: Path) -> None:
    _table(tmp_path)
    marks = tmp_path / "marks.parquet"
    pl.DataFrame({"id": [f"text-{row}" for row in range(ROWS)], "spans": [[[0, 3]]] * ROWS}).write_parquet(marks)
    first = _run(tmp_path, rationales="why").results("plausibility")
    second = _run(tmp_path, rationales=marks)
    assert second.results("plausibility")["marked"].to_list() == [1] * len(first)
    assert second.manifest["rationales"]["name"] == str(marks)
    assert _run(tmp_path).results("plausibility").equals(second.results("plausibility"))


def test_rationales_that_do_not_fit_are_refused_before_training(tmp_path: Path) -> None:
    _table(tmp_path)
    marks = tmp_path / "marks.jsonl"
    for row, message in (
        ({"id": "text-1", "spans": [[0, 999]]}, r"marks\.jsonl, line 1: the span \[0, 999\)"),
        ({"id": "text-99", "spans": []}, "line 1: there is no text with the id 'text-99'"),
    ):
        marks.write_text(json.dumps(row) + "\n")
        with pytest.raises(BadInput, match=message):
            _run(tmp_path, rationales=marks)
    with pytest.raises(NotFound, match=r"no such file or column of .*which has: key, text, label, why"):
        _run(tmp_path, rationales="reason")
    with pytest.raises(BadConfig, match="only for corpus `table`"):
        library.run("planted", out=tmp_path / "runs", rationales="why", **SMALL)
    assert not (tmp_path / "runs").exists()


def test_the_command_line_tells_it(tmp_path: Path) -> None:
    file = _table(tmp_path)
    settings = ["corpus_options.id=key", "embedding.width=8", "training.epochs=1", "training.batch=16"]
    place = ["run", "--file", file, "--encoder", "average", "--experiments", "none", "--out", tmp_path / "runs"]
    place += [word for setting in settings for word in ("--set", setting)]
    answer = heedful(*place, "--rationales", "why")
    assert answer.code == 0, answer.err
    assert "Plausible to people? (not part of the verdict)" in answer.out
    told = json.loads(heedful(*place, "--rationales", "why", "--json").out)
    assert {row["ranking"] for row in told["plausibility"]["scores"]} >= {"attention", "random", "leave_one_out"}
