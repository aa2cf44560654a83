"""The published figures beside ours."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from sklearn.metrics import f1_score

from heedful.experiments.summary import Pooled
from heedful.findings.comparison import Compared, compare, gap
from heedful.measures import bootstrap
from heedful.published import released_tau, table2
from heedful.report.tables.comparison import claims_table, figures_table
from heedful.report.tables.formats import to_csv, to_markdown
from heedful.report.terminal.comparison import comparison_view
from heedful.runs.directory import Run
from tests.report.seeded import run_as

MEASURED = ("correlation", "permutation", "adversary", "removal", "single_weight")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    lstm = [run_as(folder / f"lstm-{seed}", corpus="sst", seed=seed, experiments=MEASURED) for seed in (1, 0)]
    return [*lstm, run_as(folder / "average", corpus="sst", encoder="average", experiments=MEASURED)]


def _only(rows: list[Compared], figure: str, decided: str | None) -> Compared:
    (row,) = [row for row in rows if (row.figure, row.decided) == (figure, decided)]
    return row


def test_seeds_are_taken_together(runs: list[Run]) -> None:
    first, second = compare(runs).sides
    assert [run.config.seed for run in first.configuration.runs] == [0, 1]
    assert len(second.configuration.runs) == 1
    assert "Between its 2 seeds attention is" in first.seeds
    assert second.seeds == ""


def test_configurations_are_not_told_apart_by_seeds(runs: list[Run], tmp_path: Path) -> None:
    released = [
        run_as(tmp_path / f"released-{seed}", corpus="sst", preset="released", seed=seed, experiments=("correlation",))
        for seed in (3, 4)
    ]
    labels = [side.configuration.label for side in compare([*runs[:2], *released]).sides]
    assert labels == ["sst, bilstm + additive, paper", "sst, bilstm + additive, released"]


def test_tau_by_class(runs: list[Run]) -> None:
    row = _only(compare(runs).sides[0].rows, "tau gradient", "b")
    frames = [run.results("correlation") for run in sorted(runs[:2], key=lambda run: run.config.seed)]
    values = np.stack(
        [
            frame.select(pl.when(pl.col("decision") == 1).then("tau_attention_gradient").fill_null(np.nan)).to_series()
            for frame in frames
        ]
    )
    paper = table2("sst", "bilstm", "gradient", 1)
    released = released_tau("sst", "bilstm", "additive", "gradient", decision=1, classes=("a", "b"))
    assert paper is not None
    assert released is not None
    mean = float(np.nanmean(values))
    assert row.ours.mean == pytest.approx(mean)
    assert (row.ours.low, row.ours.high) == bootstrap(values, seed=0, draws=1000)
    assert row.paper == (paper.mean, paper.std)
    assert row.released == (released.mean, released.std)
    away = row.difference("paper")
    assert away is not None
    assert away.in_std == pytest.approx((mean - paper.mean) / paper.std)


def test_performance(runs: list[Run]) -> None:
    rows = compare(runs).sides[0].rows
    f1, accuracy = _only(rows, "macro F1", None), _only(rows, "accuracy", None)
    assert f1.paper == (0.81, None)
    assert accuracy.paper is None
    assert accuracy.released == (pytest.approx(0.808, abs=5e-4), None)
    plain = [f1_score(run.evidence.labels, run.evidence.decisions, average="macro") for run in runs[:2]]
    own = [run.metrics["test"]["accuracy"] for run in runs[:2]]
    assert accuracy.ours.mean == pytest.approx(np.mean(own))
    assert accuracy.ours.spread == pytest.approx(np.std(own, ddof=1))
    assert f1.ours.low is not None
    assert f1.ours.low < np.mean(plain) < f1.ours.high  # type: ignore[operator]


def test_the_average_encoder_has_no_published_performance_in_the_paper(runs: list[Run]) -> None:
    rows = compare(runs).sides[1].rows
    assert _only(rows, "macro F1", None).paper is None
    assert _only(rows, "tau gradient", "a").paper is not None
    assert _only(rows, "tau leave-one-out", "a").paper is None


def test_gradient_against_attention(tmp_path: Path) -> None:
    run = run_as(tmp_path / "han", corpus="yelp", model="han", encoder="bigru", outputs=5, experiments=("removal",))
    (side,) = compare([run]).sides
    (row,) = side.rows
    frame = run.results("removal").filter(pl.col("items") > 1)
    counts = frame.select(pl.col("gradient_count", "attention_count").cast(pl.Float64).fill_null(np.inf))
    assert row.ours.mean == pytest.approx((counts["gradient_count"] < counts["attention_count"]).mean())
    assert row.released == (pytest.approx(0.3153, abs=1e-4), None)


@pytest.mark.parametrize(
    ("mean", "std", "sign"),
    [(0.45, 0.2, "="), (0.55, 0.2, "~"), (0.15, 0.2, "≠"), (0.4, 0.0, "="), (0.45, None, "~"), (0.6, None, "≠")],
)
def test_signs(mean: float, std: float | None, sign: str) -> None:
    found = gap(Pooled(mean, mean - 0.01, mean + 0.01, 5, None), 0.4, std)
    assert found is not None
    assert found.difference == pytest.approx(mean - 0.4)
    assert (found.sign, found.words) == (sign, {"=": "near", "~": "not far", "≠": "far"}[sign])


def test_undefined_and_without_an_interval() -> None:
    assert gap(Pooled(None, None, None, 0, None), 0.4, 0.1) is None
    found = gap(Pooled(0.5, None, None, 5, None), 0.4, None)
    assert found is not None
    assert (found.sign, found.words) == ("", None)


def test_on_the_page(runs: list[Run], tmp_path: Path) -> None:
    other = run_as(tmp_path / "planted")
    comparison = compare([*runs, other])
    console = Console(width=100, record=True, file=(tmp_path / "out").open("w"))
    console.print(comparison_view(comparison))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 100
    assert "sst, bilstm + additive, preset paper, 2 seeds" in text
    assert "0.40±0.21" in text
    assert "random word vectors" in text
    assert "No figures were published for: planted, bilstm + additive." in text
    assert "not testable here: an exception" in text
    assert "…" not in text.split("What Jain")[0]


def test_nothing_comparable(tmp_path: Path) -> None:
    comparison = compare([run_as(tmp_path / "planted")])
    console = Console(width=100, record=True, file=(tmp_path / "out").open("w"))
    console.print(comparison_view(comparison))
    assert "Nothing to compare" in console.export_text()
    assert comparison.sides == []
    assert figures_table(comparison).rows == ()


def test_files(runs: list[Run]) -> None:
    comparison = compare(runs)
    figures, claims = to_csv(figures_table(comparison)), to_csv(claims_table(comparison))
    rows = pl.read_csv(figures.encode())
    assert rows.filter((pl.col("figure") == "macro F1") & (pl.col("seeds") == 2))["paper"].to_list() == [0.81]
    assert set(rows["paper_words"].drop_nulls()) <= {"near", "not far", "far"}
    assert "lstm-0 lstm-1" in set(rows["run"])
    told = pl.read_csv(claims.encode())
    assert {"holds", "does not hold", "undecided", "not testable here"} >= set(told["verdict"])
    assert "| macro F1 |" in to_markdown(figures_table(comparison))


def test_a_figure_that_only_some_seeds_have(runs: list[Run], tmp_path: Path) -> None:
    bare = run_as(tmp_path / "bare", corpus="sst", seed=5)
    row = _only(compare([*runs, bare]).sides[0].rows, "tau gradient", None)
    assert row.ours.n == _only(compare(runs).sides[0].rows, "tau gradient", None).ours.n
