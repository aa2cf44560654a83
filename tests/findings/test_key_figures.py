"""Key figures: plain means of what the results say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.experiments import removal_scores, substitution_scores
from heedful.findings.key_figures import KEYS, key_figures
from heedful.runs.directory import Run
from tests.making import awkward_evidence, instance, make_evidence
from tests.report.made_run import made_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made_run(tmp_path_factory.mktemp("runs") / "made", make_evidence(5, n=60, outputs=2))


def test_means_of_the_results(run: Run) -> None:
    figures = key_figures(run, draws=200)
    removal = run.results("removal")
    several = removal.filter(removal["items"] > 1)
    counts = {name: several[f"{name}_count"].to_list() for name in ("attention", "gradient")}
    sooner = [
        (b if b is not None else np.inf) < (a if a is not None else np.inf)
        for a, b in zip(counts["attention"], counts["gradient"], strict=True)
    ]
    plain = {
        "accuracy": float((run.evidence.decisions == run.evidence.labels).mean()),
        "tau_gradient": run.results("correlation")["tau_attention_gradient"].mean(),
        "permuted_tvd": run.results("permutation")["median"].mean(),
        "jsd": run.results("adversary")["jsd"].mean(),
        "irrelevant": 1 - run.results("reach")["can_change"].mean(),
        "violates": run.results("violation")["violates"].mean(),
        "gradient_wins": np.mean(sooner),
        "attention_removed": several["attention_fraction"].fill_null(1.0).mean(),
        "least_removed": several["optimal_fraction"].fill_null(1.0).mean(),
    }
    for name, value in plain.items():
        found = figures[name]
        assert found is not None, name
        assert found.value == pytest.approx(value), name
        assert found.low <= found.value <= found.high, name


def test_what_was_not_performed_is_not_known(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", make_evidence(), experiments=())
    figures = key_figures(run)
    assert {name for name, known in figures.items() if known is not None} == {"accuracy"}
    assert {criterion.outcome for criterion in run.verdict.criteria} == {"untested"}
    assert not run.verdict.tested
    assert "nothing was tested" in run.verdict.words


@pytest.mark.parametrize("decoder", ["affine", "tanh"])
def test_awkward_instances_are_told_without_nan(tmp_path: Path, decoder: str) -> None:
    evidence = awkward_evidence(3, decoder)  # type: ignore[arg-type]
    experiments = ("permutation", "adversary", "substitution", "violation", "removal", "single_weight")
    run = made_run(tmp_path / "made", evidence, experiments=experiments)
    figures = key_figures(run)
    assert all(np.isfinite(tuple(known)).all() for known in figures.values() if known is not None)
    assert (figures["least_removed"] is None) == (decoder == "tanh")
    assert run.verdict.words


def test_an_answer_that_is_no_class_counts_as_missed(tmp_path: Path) -> None:
    evidence = make_evidence(n=40, outputs=2)
    labels = np.where(np.arange(40) % 4, evidence.decisions, -1).astype(np.int32)  # all that can be right are
    run = made_run(tmp_path / "made", replace(evidence, labels=labels), experiments=("substitution",))
    figures = key_figures(run)
    assert figures["accuracy"] is not None
    assert (figures["accuracy"].value, figures["accuracy"].n) == (0.75, 40)
    own = substitution_scores(run.results("substitution"), draws=0).row(0, named=True)
    assert own["accuracy"] == 0.75


def test_decisions_that_never_change_take_all_items(tmp_path: Path) -> None:
    evidence = make_evidence(n=20)
    assert evidence.bias is not None
    evidence.bias[:] = 100.0
    evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
    run = made_run(tmp_path / "made", evidence, experiments=("removal",))
    scores = removal_scores(run.results("removal"), draws=0).filter(pl.col("ranking") == "attention")
    removed = key_figures(run)["attention_removed"]
    assert removed is not None
    assert removed.value == scores["fraction_all"].item() == 1.0


def test_one_instance_of_one_item(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", instance([1.0], [2.0]), experiments=("removal", "substitution", "permutation"))
    figures = key_figures(run)
    assert figures["attention_removed"] is None
    assert all(set(known._asdict()) == {"value", "std", "low", "high", "n"} for known in figures.values() if known)
    assert not run.verdict.tested


def test_every_key_has_words() -> None:
    assert all(key.title and key.meaning.endswith(".") for key in KEYS)
