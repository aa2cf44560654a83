"""`heedful compare` as its users meet it."""

import json
from pathlib import Path

import pytest

from tests.cli.calling import heedful
from tests.report.seeded import run_as


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        run_as(folder / f"sst-{seed}", corpus="sst", seed=seed, experiments=("correlation",))
    half = run_as(folder / "half")
    (half.folder / "evidence.parquet").unlink()
    return folder


def test_in_words(runs: Path, tmp_path: Path) -> None:
    answer = heedful("compare", runs, "--out", tmp_path / "new" / "table.md")
    assert answer.code == 0, answer.err
    assert "sst, bilstm + additive, preset paper, 2 seeds" in answer.out
    assert "Claims of Serrano & Smith 2019" in answer.out
    assert "not compared: half" in answer.err
    text = (tmp_path / "new" / "table.md").read_text()
    assert "## Published figures beside ours" in text
    assert "## The papers' claims" in text


def test_as_json_and_csv(runs: Path, tmp_path: Path) -> None:
    answer = heedful("compare", runs, "--json", "--out", tmp_path / "table.csv")
    told = json.loads(answer.out)
    assert told["figures"]["rows"]
    assert {claim["verdict"] for claim in told["claims"]} <= {
        "holds",
        "does not hold",
        "undecided",
        "not testable here",
    }
    assert [refused["run"] for refused in told["refused"]] == ["half"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table-claims.csv", "table.csv"]
    assert (tmp_path / "table.csv").read_text().startswith("corpus,model,seeds,random,figure,decided,n,ours")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere is not there"),
        (["."], "is not a run directory, and holds none"),
        (["RUNS", "--out", "table.xls"], "unknown ending of --out '.xls'"),
        (["RUNS/half"], "no run that can be shown"),
    ],
)
def test_bad_input(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = heedful("compare", *(argument.replace("RUNS", str(runs)) for argument in arguments))
    assert answer.code == 2
    assert words in answer.err
    assert list(tmp_path.iterdir()) == []
