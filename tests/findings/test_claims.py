"""The papers' claims, looked for in made-up runs."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.findings.claim_tests import HIGH, Finding
from heedful.findings.claims import CLAIMS, Checked, checklist, verdict_of
from heedful.findings.configurations import configurations
from heedful.runs.directory import STAGES, Run
from tests.report.seeded import run_as

MEASURED = ("correlation", "permutation", "adversary", "removal", "single_weight")


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    return [
        run_as(tmp_path / encoder, corpus="sst", encoder=encoder, experiments=MEASURED)
        for encoder in ("bilstm", "average")
    ]


def change(run: Run, experiment: str, **columns: pl.Expr) -> None:
    file = run.folder / STAGES[experiment].files[0]
    pl.read_parquet(file).with_columns(**columns).write_parquet(file)


def check(runs: list[Run], words: str) -> Checked:
    (found,) = [checked for checked in checklist(configurations(runs)) if words in checked.claim]
    return found


@pytest.mark.parametrize(("tau", "verdict"), [(0.2, "holds"), (0.8, "does not hold"), (0.5, "undecided")])
def test_modest_agreement(runs: list[Run], tau: float, verdict: str) -> None:
    noise = pl.Series(np.random.default_rng(0).normal(0, 0.1, 60))
    change(runs[0], "correlation", tau_attention_gradient=pl.lit(noise - noise.mean() + tau))
    found = check(runs, "modestly with the gradient")
    assert found.verdict == verdict
    (finding,) = found.findings
    assert finding.value == pytest.approx(tau)
    assert finding.runs == ("bilstm",)


@pytest.mark.parametrize(("more", "verdict"), [(0.3, "holds"), (-0.3, "does not hold")])
def test_average_against_bilstm(runs: list[Run], more: float, verdict: str) -> None:
    taus = runs[0].results("correlation")["tau_attention_gradient"]
    change(runs[1], "correlation", tau_attention_gradient=pl.lit(taus + more))
    found = check(runs, "Average encoder")
    assert found.verdict == verdict
    assert found.findings[0][1:4] == pytest.approx((more, more, more))  # paired: the same instances


def test_other_settings_are_not_compared(runs: list[Run], tmp_path: Path) -> None:
    other = run_as(tmp_path / "dot", corpus="sst", encoder="average", attention="dot", experiments=MEASURED)
    found = check([runs[0], other], "Average encoder")
    assert found.verdict == "not testable here"
    assert "with the same other settings" in found.reason


def test_measures_against_attention(runs: list[Run]) -> None:
    change(runs[0], "correlation", tau_gradient_leave_one_out=pl.lit(0.9))
    found = check(runs, "agree better with each other")
    frame = runs[0].results("correlation")
    least = min(0.9 - frame[f"tau_attention_{name}"].mean() for name in ("gradient", "leave_one_out"))  # type: ignore[operator]
    defined = frame["tau_attention_gradient"].is_not_null().sum()
    assert found.findings[0].value == pytest.approx(least, abs=1e-6)
    assert (found.verdict, found.findings[0].n) == ("holds", defined)


def test_shuffling(runs: list[Run]) -> None:
    change(runs[0], "permutation", max_attention=pl.int_range(60) / 60)
    frame = runs[0].results("permutation")
    heavy = frame.filter(pl.col("max_attention") >= 0.5)
    found = check(runs, "shuffled weights")
    assert found.findings[0].value == pytest.approx((heavy["median"] <= 0.1).mean())
    assert found.findings[0].n == len(heavy)
    change(runs[0], "permutation", median=pl.lit(0.05))
    assert check(runs, "shuffled weights").verdict == "holds"
    change(runs[0], "permutation", max_attention=pl.lit(0.3))
    assert check(runs, "shuffled weights").verdict == "not testable here"


def test_adversaries(runs: list[Run]) -> None:
    found = check(runs, "very different attention")
    assert found.findings[0].value == pytest.approx((runs[0].results("adversary")["jsd"] >= HIGH).mean())
    change(runs[0], "adversary", jsd=pl.lit(0.1))
    assert check(runs, "very different attention").verdict == "does not hold"


def test_diabetes_only_where_it_is(runs: list[Run], tmp_path: Path) -> None:
    assert "mimic-diabetes" in check(runs, "positive diabetes").reason
    run = run_as(tmp_path / "diabetes", corpus="mimic-diabetes", experiments=("permutation",))
    change(run, "permutation", median=pl.when(pl.col("decision") == 1).then(0.4).otherwise(0.1))
    found = check([run], "positive diabetes")
    assert found.verdict == "holds"
    assert found.findings[0].value == pytest.approx(0.3)


def test_models_that_have_learned_nothing_say_nothing(runs: list[Run]) -> None:
    file = runs[0].folder / "metrics.json"
    file.write_text('{"test": {"n": 60, "accuracy": 0.1}}')
    found = checklist(configurations(runs[:1]))
    assert {checked.verdict for checked in found} == {"not testable here"}
    assert all(checked.reason for checked in found)


def test_serrano_and_smith_run_by_run(runs: list[Run]) -> None:
    found = check(runs, "zeroing the top item's attention alone")
    assert len(found.findings) == 2
    for run, finding in zip(runs, found.findings, strict=True):
        frame = run.results("single_weight").filter(pl.col("items") > 1)
        changed = frame["attention_flips"].mean()
        assert finding.against == pytest.approx(changed)
        assert finding.holds == (changed < 0.5)  # type: ignore[operator]


def test_without_results_every_claim_is_told(tmp_path: Path) -> None:
    found = checklist(configurations([run_as(tmp_path / "bare")]))
    assert len(found) == len(CLAIMS) + 1
    assert {checked.verdict for checked in found} == {"not testable here"}


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        ([], "not testable here"),
        ([True, True, False], "holds"),
        ([True, False, False], "does not hold"),
        ([True, False], "undecided"),
        ([True, None], "undecided"),
    ],
)
def test_verdicts(holds: list[bool | None], verdict: str) -> None:
    assert verdict_of([Finding("", 0.0, 0.0, 0.0, each, 1, ()) for each in holds]) == verdict
