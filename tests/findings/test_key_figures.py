"""Key figures: plain means of what the results say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.experiments import removal_scores, substitution_scores
from heedful.findings import run_verdict as weighing
from heedful.findings.key_figures import KEYS, key_figures
from heedful.findings.run_verdict import COSTS, FEW, Sign, verdict
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
    weighed = verdict(run, figures)
    assert {sign.side for sign in weighed.signs} == {"unknown"}
    assert "Nothing was tested" in weighed.words


@pytest.mark.parametrize("decoder", ["affine", "tanh"])
def test_awkward_instances_are_told_without_nan(tmp_path: Path, decoder: str) -> None:
    evidence = awkward_evidence(3, decoder)  # type: ignore[arg-type]
    experiments = ("permutation", "adversary", "substitution", "violation", "removal", "single_weight")
    run = made_run(tmp_path / "made", evidence, experiments=experiments)
    figures = key_figures(run)
    assert all(np.isfinite(tuple(known)).all() for known in figures.values() if known is not None)
    assert (figures["least_removed"] is None) == (decoder == "tanh")
    assert verdict(run, figures).words


def test_an_answer_that_is_no_class_counts_as_missed(tmp_path: Path) -> None:
    evidence = make_evidence(n=40, outputs=2)
    labels = np.where(np.arange(40) % 4, evidence.decisions, -1).astype(np.int32)  # all that can be right are
    run = made_run(tmp_path / "made", replace(evidence, labels=labels), experiments=("substitution",))
    figures = key_figures(run)
    assert figures["accuracy"] is not None
    assert (figures["accuracy"].value, figures["accuracy"].n) == (0.75, 40)
    own = substitution_scores(run.results("substitution"), draws=0).row(0, named=True)
    assert own["accuracy"] == 0.75
    assert "75% with its own" in verdict(run, figures).signs[1].words


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
    assert all(set(known.to_json()) == {"value", "std", "low", "high", "n"} for known in figures.values() if known)
    verdict(run, figures)


def test_a_verdict_counts_its_signs(run: Run) -> None:
    weighed = verdict(run, key_figures(run))
    sides = [sign.side for sign in weighed.signs]
    assert str(len(sides) - sides.count("unknown")) in weighed.words
    assert all(sign.words.endswith(".") for sign in weighed.signs)


def _said(monkeypatch: pytest.MonkeyPatch, run: Run, sides: str) -> str:
    """What all signs say together: + for, - against, 0 undecided."""
    of = {"+": "for", "-": "against", "0": "undecided"}
    signs = [Sign("test", of[side], "Words.", "Question?") for side in sides]  # type: ignore[arg-type]
    nothing = Sign("test", "unknown", "Words.", "Question?")
    for name in ("_shuffled", "_violation", "_agreement"):
        monkeypatch.setattr(weighing, name, lambda *_: nothing)
    monkeypatch.setattr(weighing, "_replaced", lambda _: nothing)
    monkeypatch.setattr(weighing, "_removals", lambda _: signs)
    return verdict(run, {}).words


def test_words_of_a_verdict(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    against = "against showing this attention as an explanation"
    words = {
        "+++---": "The tests disagree: of 6, 3 speak for this attention and 3 against it.",
        "+----0": f"4 of 6 tests speak {against}, 1 for it.",
        "-00000": f"1 of 6 tests speaks {against}, none for it.",
        "-+++++": "The tests disagree: of 6, 5 speak for this attention and 1 against it.",
        "++++00": "None of 6 tests speaks against this attention, and 4 speak for it.",
    }
    assert {sides: _said(monkeypatch, run, sides) for sides in words} == words


def test_few_instances_tell_nothing(tmp_path: Path) -> None:
    for n, decided in ((FEW - 1, False), (FEW, True)):
        evidence = make_evidence(n=n, outputs=2)
        assert evidence.scores is not None
        evidence.scores.values[:] = evidence.scores.values[:1]
        evidence = replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))
        run = made_run(tmp_path / f"made-{n}", evidence, experiments=("substitution", "permutation", "violation"))
        signs = [sign for sign in verdict(run, key_figures(run)).signs if sign.side != "unknown"]
        assert len(signs) == 3
        assert all((sign.side != "undecided") == decided for sign in signs)
        assert all(("too few" in sign.words) != decided for sign in signs)


def test_equal_weights_that_cost_nothing_speak_against_attention(tmp_path: Path) -> None:
    evidence = make_evidence(1, n=80, outputs=2)
    assert evidence.scores is not None
    evidence.scores.values[:] = evidence.scores.values[:1]  # all items say the same: attention is idle
    evidence = type(evidence)(**{**vars(evidence), "output": evidence.decode(evidence.weights).astype(np.float32)})
    run = made_run(tmp_path / "made", evidence, experiments=("substitution", "permutation"))
    sides = {sign.test: sign.side for sign in verdict(run, key_figures(run)).signs}
    assert COSTS > 0
    assert sides["substitution"] == "against"
    assert sides["permutation"] == "against"


def test_every_key_has_words() -> None:
    assert all(key.title and key.meaning.endswith(".") for key in KEYS)
