"""Which runs a report is about."""

import os
from pathlib import Path

import polars as pl
import pytest

from heedful.errors import NotFound
from heedful.findings.gathering import FinishedRun, gather
from tests.making import make_evidence
from tests.report.made_run import made_run


def test_runs_folders_of_runs_and_both(tmp_path: Path) -> None:
    for name in ("b", "a", "deeper/c"):
        made_run(tmp_path / name, make_evidence(), experiments=())
    assert [run.folder.name for run in gather([tmp_path]).runs] == ["a", "b", "c"]
    assert [run.folder.name for run in gather([tmp_path / "b", tmp_path]).runs] == ["b", "a", "c"]  # each once


def test_a_half_finished_run_is_refused_with_its_reason(tmp_path: Path) -> None:
    made_run(tmp_path / "whole", make_evidence(), experiments=())
    (made_run(tmp_path / "half", make_evidence(), experiments=()).folder / "evidence.parquet").unlink()
    gathered = gather([tmp_path])
    assert [run.folder.name for run in gathered.runs] == ["whole"]
    assert [refused.folder.name for refused in gathered.refused] == ["half"]
    assert "not finished" in gathered.refused[0].reason


def test_a_damaged_run_is_refused(tmp_path: Path) -> None:
    made_run(tmp_path / "whole", make_evidence(), experiments=())
    (made_run(tmp_path / "bad", make_evidence(), experiments=()).folder / "manifest.json").write_text("{")
    (made_run(tmp_path / "odd", make_evidence(), experiments=()).folder / "config.toml").write_text("corpus = 3")
    cut = made_run(tmp_path / "cut", make_evidence(), experiments=("reach",)).folder / "results" / "reach.parquet"
    cut.write_bytes(cut.read_bytes()[:-20])
    scores = made_run(tmp_path / "scores", make_evidence(), experiments=()).folder / "metrics.json"
    scores.write_text("{")
    gathered = gather([tmp_path])
    assert {refused.folder.name for refused in gathered.refused} == {"bad", "odd", "cut", "scores"}
    assert any("reach.parquet is damaged" in refused.reason for refused in gathered.refused)
    assert [run.folder.name for run in gathered.runs] == ["whole"]


def test_a_run_whose_rows_are_damaged_is_refused(tmp_path: Path) -> None:
    made_run(tmp_path / "whole", make_evidence(), experiments=())
    bad = made_run(tmp_path / "bad", make_evidence(n=200), experiments=("reach",)).folder / "results" / "reach.parquet"
    content = bytearray(bad.read_bytes())
    content[4:104] = b"\xff" * 100  # of a page: the schema, at the end, is whole
    bad.write_bytes(content)
    gathered = gather([tmp_path])
    assert [run.folder.name for run in gathered.runs] == ["whole"]
    assert "reach.parquet is damaged" in gathered.refused[0].reason


def test_whatever_is_wrong_with_a_run_the_others_are_shown(tmp_path: Path) -> None:
    made_run(tmp_path / "whole", make_evidence(), experiments=())
    deep = made_run(tmp_path / "deep", make_evidence(), experiments=()).folder / "manifest.json"
    deep.write_text('{"a":' * 100_000)
    strange = made_run(tmp_path / "strange", make_evidence(), experiments=()).folder / "manifest.json"
    strange.write_text('{"stages": {"evidence": 3, "prepare": [], "train": null}, "corpus": {"classes": 5}}')
    os.rename(  # noqa: PTH104
        made_run(tmp_path / "name", make_evidence(), experiments=()).folder, os.fsencode(tmp_path) + b"/no-text\xff"
    )
    gathered = gather([tmp_path])
    assert [run.folder.name for run in gathered.runs] == ["whole"]
    assert {refused.folder.name for refused in gathered.refused} == {"deep", "strange", "no-text\\udcff"}
    for _, reason in gathered.refused:
        reason.encode()


def test_a_run_at_which_polars_panics_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_run(tmp_path / "whole", make_evidence(), experiments=())
    made_run(tmp_path / "panicking", make_evidence(), experiments=())
    check = FinishedRun.check

    def panic(run: FinishedRun) -> None:
        if run.folder.name == "panicking":
            raise pl.exceptions.PanicException("called `Option::unwrap()` on a `None` value")
        check(run)

    monkeypatch.setattr(FinishedRun, "check", panic)
    gathered = gather([tmp_path])
    assert [run.folder.name for run in gathered.runs] == ["whole"]
    assert "Option::unwrap" in gathered.refused[0].reason


def test_places_without_runs_are_errors(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not a run directory, and holds none"):
        gather([tmp_path])
    with pytest.raises(NotFound, match="is not there"):
        gather([tmp_path / "nowhere"])
    (made_run(tmp_path / "half", make_evidence(), experiments=()).folder / "evidence.parquet").unlink()
    with pytest.raises(NotFound, match=r"no run that can be shown.*not finished"):
        gather([tmp_path])
