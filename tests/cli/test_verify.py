"""`heedful verify` as its users meet it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from heedful import integrity
from heedful.runs.directory import Run
from tests.cli.calling import heedful
from tests.making import make_evidence
from tests.report.made_run import made_run
from tests.runs.flipping import flipped
from tests.runs.small import ARGUMENTS, contents

Copy = Callable[[Path], Run]


def damage(path: Path) -> None:
    with path.open("r+b") as file:
        byte = file.read(1)[0]
        file.seek(0)
        file.write(bytes([byte ^ 1]))


def test_whole_runs_are_told_so_with_exit_code_0(copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    answer = heedful("verify", tmp_path)
    assert answer.code == 0, answer.err
    assert f"{run.folder}: 20 files as recorded" in answer.out
    assert "20 files with hashes in 1 directories" in answer.err


def test_damage_is_named_repaired_and_made_again(small_run: Run, copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    damage(run.folder / "results" / "reach.parquet")
    answer = heedful("verify", run.folder)
    assert answer.code == 1
    assert "DAMAGED, 1 of 20 files" in answer.out
    assert "results/reach.parquet: its content is not what was recorded" in answer.out
    assert f"`heedful verify --repair {run.folder}`" in answer.out
    again = heedful("run", *ARGUMENTS, "--out", tmp_path)
    assert again.code == 2
    assert "reach.parquet is damaged" in again.err
    repaired = heedful("verify", run.folder, "--repair")
    assert repaired.code == 1
    assert "deleted stages: reach" in repaired.out
    assert heedful("verify", run.folder).code == 0
    assert heedful("run", *ARGUMENTS, "--out", tmp_path).code == 0
    assert contents(run.folder) == contents(small_run.folder)


def test_a_run_of_an_older_version_is_said_to_have_no_hashes(tmp_path: Path) -> None:
    made_run(tmp_path / "old", make_evidence(), experiments=("reach",))
    answer = heedful("verify", tmp_path)
    assert answer.code == 0
    assert "old: 0 files as recorded" not in answer.out
    assert "no hashes were recorded (made by an older version)" in answer.out


def test_as_json(copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    made_run(tmp_path / "old", make_evidence(), experiments=())
    with flipped(run.folder / "model.safetensors", 12345, tick=10**18):
        answer = heedful("verify", tmp_path, "--json")
    assert answer.code == 1
    told = json.loads(answer.out)
    assert told["intact"] is False
    old, new = told["directories"]
    assert (old["intact"], old["files"]) == (True, 0)
    assert set(old["unrecorded"]) >= {"config.toml", "evidence.parquet", "manifest.json"}
    (found,) = new["damaged"]
    assert (found["file"], found["stage"]) == ("model.safetensors", "train")
    assert new["kind"] == "run"
    assert new["repair"] == []


def test_options_beyond_repair_do_not_keep_other_runs_from_being_repaired(copy_small_run: Copy, tmp_path: Path) -> None:
    lost, other = copy_small_run(tmp_path / "a"), copy_small_run(tmp_path / "b")
    (lost.folder / "config.toml").write_text("corpus = 3")
    damage(other.folder / "importance.parquet")
    answer = heedful("verify", tmp_path, "--repair")
    assert answer.code == 1
    assert "not repaired" in answer.out
    assert "`heedful run` with the same options" in answer.out
    assert "deleted stages: importance" in answer.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere is not there"),
        (["."], "is not a run directory, and holds none"),
        ([], "Missing argument"),
    ],
)
def test_bad_use_is_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = heedful("verify", *arguments)
    assert answer.code == 2
    assert words in answer.err


def test_a_report_shows_the_other_runs_and_names_the_damaged_one(copy_small_run: Copy, tmp_path: Path) -> None:
    whole, other = copy_small_run(tmp_path / "runs" / "a"), copy_small_run(tmp_path / "runs" / "b")
    with flipped(other.folder / "evidence.parquet", 9999, tick=10**18):
        for command in (["report", "--formats", "none", "--out", tmp_path / "site"], ["compare"]):
            answer = heedful(*command, tmp_path / "runs", "--json")
            assert answer.code == 0, answer.err
            assert f": {other.folder.name}: {other.folder / 'evidence.parquet'} is damaged" in answer.err
            assert str(whole.folder / "evidence.parquet") not in answer.err


def test_a_file_that_rots_unseen_between_two_reports_is_named_too(copy_small_run: Copy, tmp_path: Path) -> None:
    """Size and time are as before, so that only reading tells."""
    _, other = copy_small_run(tmp_path / "runs" / "a"), copy_small_run(tmp_path / "runs" / "b")
    arguments = ["report", tmp_path / "runs", "--formats", "none", "--out", tmp_path / "site"]
    file = other.folder / "results" / "permutation.parquet"
    tick = 10**18
    with flipped(file, 0, tick):
        pass  # settled: its time is long ago
    assert heedful(*arguments).code == 0
    for kept in (other.folder / ".findings").iterdir():
        if kept.name not in ("files.json", "readable.json"):  # found whole before, so that only a table meets the bit
            kept.unlink()
    integrity._hashes.clear()  # as in a new process
    with flipped(file, 12345, tick + 1):
        answer = heedful(*arguments)
    assert answer.code == 0, answer.err
    assert f"not shown: {other.folder.name}: {file} is damaged" in answer.err
