"""The page of reproductions, from made-up runs."""

from pathlib import Path

import polars as pl
import pytest

from benchmarks.reproduction import documents, jain_wallace, seeds
from benchmarks.reproduction.page import write_page
from benchmarks.reproduction.reading import in_order
from heedful.runs.directory import Run
from heedful.sweeps.grid import read_grid
from tests.report.seeded import run_as

GRIDS = Path(__file__).parents[1] / "benchmarks" / "reproduction" / "grids"
CLASSIFIED = ("correlation", "permutation", "adversary", "substitution", "violation", "single_weight", "removal")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    lstm = [run_as(folder / f"lstm-{seed}", corpus="sst", seed=seed, experiments=CLASSIFIED) for seed in (1, 0)]
    average = run_as(folder / "average", corpus="sst", encoder="average", experiments=CLASSIFIED)
    han = run_as(
        folder / "han",
        corpus="yelp",
        model="han",
        encoder="bigru",
        outputs=5,
        experiments=("single_weight", "removal"),
    )
    return [han, average, *lstm, run_as(folder / "planted")]


def test_the_page(runs: list[Run], tmp_path: Path) -> None:
    (tmp_path / "images" / "reproduction").mkdir(parents=True)
    old = tmp_path / "images" / "reproduction" / "old.svg"
    old.touch()
    write_page(runs, tmp_path)
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert not old.exists()
    images = [line.split(")")[0] for line in page.split("](")[1:] if line.split(")")[0].endswith(".svg")]
    assert images
    assert all((tmp_path / image).is_file() for image in images)
    assert len(images) == len(list((tmp_path / "images" / "reproduction").glob("*.svg")))
    assert "Not finished when this page was written: IMDB with BiLSTM" in page
    assert "nan" not in page.lower().replace("finance", "")
    assert str(tmp_path.parent) not in page
    assert len(pl.read_csv(tmp_path / "reproduction" / "comparison.csv")) > 0


def test_runs_stand_in_the_order_of_the_papers(runs: list[Run]) -> None:
    assert [run.folder.name for run in in_order(runs)] == ["lstm-0", "lstm-1", "average", "han"]


def test_table_2_has_our_figures_and_the_papers(runs: list[Run]) -> None:
    lstm, average = runs[3], runs[1]
    told = jain_wallace.table_2([lstm, average])
    decided = pl.col("decision") == 0
    frame = lstm.results("correlation").filter(decided)["tau_attention_gradient"]
    line = told.splitlines()[2]
    assert line.startswith("| SST | a |")
    assert f"**{frame.mean():.2f}**±{frame.std(ddof=0):.2f}" in line
    assert "0.40±0.21, 59 %" in line


def test_ordering_takes_seeds_together(runs: list[Run]) -> None:
    told = jain_wallace.ordering([runs[3], runs[2], runs[1]])
    taus = [run.results("correlation")["tau_attention_gradient"].mean() for run in runs[1:4]]
    assert f"{taus[0] - (taus[1] + taus[2]) / 2:+.2f} [" in told  # type: ignore[operator]


def test_how_soon_decisions_change(runs: list[Run]) -> None:
    frame = runs[0].results("removal").filter(pl.col("items") > 1)
    shares = [frame[f"{order}_fraction"].fill_null(1.0).mean() for order in ("attention", "gradient")]
    cell = " / ".join(f"{100 * share:.0f}" for share in shares)  # type: ignore[operator]
    assert f"| HAN, GRU | {cell} / " in documents.removed(runs[:1])
    assert "(32 %)" in documents.wins(runs[:1])


def test_seeds(runs: list[Run]) -> None:
    (group,) = seeds.several(runs)
    assert "| SST | BiLSTM | 0 and 1 |" in seeds.attention([group])
    assert "| SST | BiLSTM | Share of correct decisions |" in seeds.figures([group])


@pytest.mark.parametrize(("name", "cells"), [("classification", 12), ("answering", 6), ("documents", 24)])
def test_grids(name: str, cells: int) -> None:
    assert len(read_grid(GRIDS / f"{name}.toml").configs) == cells
