"""`heedful report` as its users meet it."""

import importlib.util
import json
from pathlib import Path

import pytest

from heedful.errors import install_hint
from tests.cli.calling import heedful
from tests.making import make_evidence
from tests.report.made_run import made_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    made_run(folder / "made", make_evidence(1, n=12), experiments=("violation", "removal"))
    half = made_run(folder / "half", make_evidence(1, n=12), experiments=())
    (half.folder / "evidence.parquet").unlink()
    return folder


def test_tables_are_printed_and_written_figures_too(runs: Path, tmp_path: Path) -> None:
    answer = heedful("report", runs, "--out", tmp_path / "site")
    assert answer.code == 0, answer.err
    assert "Corpora and test performance" in answer.out
    assert (tmp_path / "site" / "index.html").as_uri() in answer.out
    assert "not shown: half" in answer.err
    assert "not finished" in answer.err
    for ending in ("csv", "md", "tex"):
        assert list((tmp_path / "site" / "tables").glob(f"*.{ending}"))
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / "site" / "figures" / "made" / f"removal-fraction.{ending}").stat().st_size > 1000


def test_as_json(runs: Path, tmp_path: Path) -> None:
    answer = heedful("report", runs, "--out", tmp_path / "site", "--formats", "none", "--json")
    told = json.loads(answer.out)
    assert told["page"] == str(tmp_path / "site" / "index.html")
    assert "violation" in {table["name"] for table in told["tables"]}
    assert not (tmp_path / "site" / "figures").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere is not there"),
        (["."], "is not a run directory, and holds none"),
        (["RUNS", "--formats", "svg,gif"], "unknown figure format 'gif'"),
        (["RUNS", "--out", "file"], "file: that is a file"),
        (["RUNS", "--out", "full"], "holds something else than a report"),
        (["RUNS/half"], "no run that can be shown"),
    ],
)
def test_bad_input(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    answer = heedful("report", *(argument.replace("RUNS", str(runs)) for argument in arguments))
    assert answer.code == 2
    assert words in answer.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]


def test_without_the_libraries_that_draw(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "heedful.report.charts.render.find_spec", lambda name: None if name == "altair" else found(name)
    )
    answer = heedful("report", runs, "--out", tmp_path / "site")
    assert answer.code == 2
    assert install_hint("report") in answer.err


def test_the_demo_looks_for_room_before_it_trains(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    answer = heedful("demo", "--out", tmp_path / "runs", "--site", tmp_path / "mine")
    assert answer.code == 2
    assert f"--site {tmp_path / 'mine'}: that directory holds something else" in answer.err
    assert not (tmp_path / "runs").exists()
