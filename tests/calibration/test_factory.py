"""Models of the factory are what the checks say, can be audited, and come back as they were kept."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.calibration.factory import training
from benchmarks.calibration.factory.__main__ import main
from benchmarks.calibration.factory.checks import labelled
from benchmarks.calibration.factory.coding import coded
from benchmarks.calibration.factory.kinds import BYPASSED, FAITHFUL, INTENDED, KINDS, WRONG
from benchmarks.calibration.factory.measurements import measured
from benchmarks.calibration.factory.networks import Hierarchical
from benchmarks.calibration.factory.plans import Plan, plans
from benchmarks.calibration.factory.production import FINDINGS, WEIGHTS, load, make, subject_of
from benchmarks.calibration.factory.tasks import Task, written
from benchmarks.calibration.factory.training import network_of, trained
from heedful.adapters.checking import check as check_contract
from heedful.errors import BadInput

TASK = Task(length=10, fillers=20, cues=3)
COURIER = Plan(kind="courier", task=TASK, architecture="bert", layers=2, heads=1)
SMALL = {
    "faithful": Plan(kind="guided", task=replace(TASK, rule="default"), architecture="bilstm", blur=0.1),
    "one layer": Plan(kind="guided", task=TASK, architecture="bert", heads=2),
    "courier": COURIER,
    "shifted": Plan(kind="shifted", task=replace(TASK, rule="several"), architecture="bag"),
    "cancelling": Plan(kind="cancelling", task=TASK, architecture="bag", heads=2),
    "beside": Plan(kind="beside", task=replace(TASK, classes=3), architecture="han", pool="max"),
}
LABELS = {
    "faithful": FAITHFUL,
    "one layer": FAITHFUL,
    "courier": WRONG,
    "shifted": WRONG,
    "cancelling": WRONG,
    "beside": BYPASSED,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, dict]]:
    folder = tmp_path_factory.mktemp("factory")
    return {name: (folder / name, make(plan, folder / name)) for name, plan in SMALL.items()}


@pytest.mark.parametrize("name", SMALL)
def test_small_models_are_of_their_kind(name: str, made: dict[str, tuple[Path, dict]]) -> None:
    result = made[name][1]
    assert (result["label"], result["reason"]) == (LABELS[name], None), result["figures"]


def test_a_courier_is_necessary_says_nothing_and_swapping_the_deciding_words_flips_all(
    made: dict[str, tuple[Path, dict]],
) -> None:
    figures = made["courier"][1]["figures"]
    assert figures["on courier"] > 0.95
    assert figures["on truth"] < 0.05
    assert figures["swapped"] > 0.95
    assert figures["attended cut"] < 0.1  # attention elsewhere: nothing is known
    assert figures["attended swapped"] < 0.05


@pytest.mark.parametrize("name", SMALL)
def test_models_come_back_as_they_were_and_can_be_audited(name: str, made: dict[str, tuple[Path, dict]]) -> None:
    folder, result = made[name]
    subject, texts, labels, truth = load(folder)
    seen = subject.read(subject.encode(texts))
    assert (seen.logits.argmax(axis=1) == labels).mean() == pytest.approx(result["figures"]["accuracy"], abs=1e-4)
    assert [len(row) for row in seen.weights] == [len(flags) for flags in truth]
    again = measured(subject, written(SMALL[name].task, "test", len(texts)), seed=SMALL[name].seed)
    assert again == pytest.approx(result["figures"], abs=2e-4)
    assert check_contract(subject, subject.encode(texts)).moved > 0


def test_logits_are_the_same_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "STEPS", 25)
    for plan in (COURIER, SMALL["beside"]):
        folder = tmp_path / plan.kind
        make(plan, folder)
        subject, texts, *_ = load(folder)
        before = subject_of(trained(plan)[0], plan)  # the same seed trains the same model
        one, other = (each.read(each.encode(texts)).logits for each in (before, subject))
        assert np.array_equal(one, other)


def test_networks_read_texts_as_their_subjects_do() -> None:
    for plan in SMALL.values():
        network, texts = network_of(plan).eval(), written(plan.task, "test", 8)
        subject = subject_of(network, plan)
        seen = subject.read(subject.encode([" ".join(text.words) for text in texts]))
        tensors = coded(plan.task, texts)
        watched = getattr(network, "watched", torch.no_grad)
        with watched(), torch.no_grad():
            read = network.read(tensors.tokens, tensors.real)
        assert read.logits.numpy() == pytest.approx(seen.logits, abs=1e-5)
        shown = read.shown.mean(dim=1)
        shown = (shown / shown.sum(dim=1, keepdim=True))[tensors.real]
        assert shown.numpy() == pytest.approx(seen.weights.values, abs=1e-5)


@pytest.mark.parametrize("kind", INTENDED)
def test_every_variant_keeps_the_contract_of_an_audit(kind: str) -> None:
    """Padding and other texts change nothing, and attention is what is computed with."""
    for _, plan in plans(len(KINDS[kind].variants), seed=2, kinds=[kind]):
        subject = subject_of(network_of(plan), plan)
        check_contract(subject, subject.encode([" ".join(text.words) for text in written(plan.task, "test", 8)]))


def test_attention_of_a_han_is_that_of_words_times_that_of_their_sentences() -> None:
    torch.manual_seed(0)
    attention, states, end = Hierarchical(4, separator=5), torch.randn(1, 6, 4), 5
    tokens = torch.tensor([[8, 9, end, 8, 9, 0]])  # the second sentence has no end, and the last token is padding
    words = attention.score(torch.tanh(attention.hidden(states[0])))[:, 0]
    parts = [[0, 1, 2], [3, 4]]
    within = [words[part].softmax(dim=0) for part in parts]
    vectors = torch.stack([share @ states[0, part] for share, part in zip(within, parts, strict=True)])
    sentences = attention.sentence_score(torch.tanh(attention.sentence_hidden(vectors)))[:, 0].softmax(dim=0)
    expected = torch.cat([sentences[0] * within[0], sentences[1] * within[1], torch.zeros(1)])
    assert torch.allclose(attention(states, tokens > 0, tokens)[0, 0], expected, atol=1e-6)


def test_an_unfinished_folder_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(training, "STEPS", 25)
    command = ["--out", str(tmp_path), "--models", "3", "--seed", "5", "--kinds", "beside", "cancelling"]
    assert main(command) == 0
    first = sorted(folder.name for folder in tmp_path.iterdir())
    assert first == ["beside-0000", "beside-0001", "cancelling-0000"]
    findings = [tmp_path / name / FINDINGS for name in first]
    kept = json.loads(findings[0].read_text())
    weights = (tmp_path / first[1] / WEIGHTS).read_bytes()
    findings[1].unlink()  # as if killed before the end
    times = [path.stat().st_mtime_ns for path in (findings[0], findings[2])]
    assert main(command) == 0
    assert [path.stat().st_mtime_ns for path in (findings[0], findings[2])] == times
    assert json.loads(findings[0].read_text()) == kept
    assert (tmp_path / first[1] / WEIGHTS).read_bytes() == weights
    assert "| beside | 2 |" in capsys.readouterr().out
    assert main([*command, "--seed", "6"]) == 2  # models of another seed are not taken for these


def test_plans_do_not_depend_on_how_many_there_are_and_survive_as_json() -> None:
    many = dict(plans(60, seed=1))
    some = dict(plans(20, seed=1))
    assert {name: many[name] for name in some} == some
    assert dict(plans(2, seed=1, kinds=["courier"])).items() <= many.items()
    assert {plan.kind for plan in many.values()} == set(INTENDED)
    for plan in many.values():
        assert Plan.of(json.loads(json.dumps(plan.settings()))) == plan
        assert plan.task.rule in KINDS[plan.kind].rules


def test_labels_need_all_of_their_figures() -> None:
    faithful = {
        "accuracy": 1.0, "swapped": 1.0, "truth mass": 0.9, "truth found": 1.0, "evidence mass": 0.9,
        "evidence found": 1.0, "alone": 1.0, "alone kept": 1.0, "random alone": 0.1, "deleted": 0.0,
        "attended swapped": 1.0, "random swapped": 0.1, "cut": 0.0, "cut kept": 0.5, "cut change": 0.5,
    }  # fmt: skip
    assert labelled(faithful) == (FAITHFUL, None)
    past = {"cut": 1.0, "cut kept": 1.0, "cut change": 0.01}
    assert labelled(faithful | past) == (BYPASSED, None)
    wrong = {"truth mass": -0.1, "truth found": -0.1, "alone": 0.0, "attended swapped": 0.05}
    assert labelled(faithful | wrong) == (WRONG, None)
    for flaw in (
        {"accuracy": 0.9},
        {"swapped": 0.5},
        {"evidence mass": 0.4},
        {"evidence found": 0.7},
        {"alone kept": 0.8},
        {"deleted": 0.5},
        {"cut": 0.5},
        wrong | {"alone": 0.9},
        wrong | {"attended swapped": 0.9},
    ):
        label, reason = labelled(faithful | flaw)
        assert label is None, flaw
        assert reason


def test_a_folder_of_another_plan_is_refused(made: dict[str, tuple[Path, dict]]) -> None:
    with pytest.raises(BadInput, match="another plan"):
        make(replace(COURIER, seed=1), made["courier"][0])
