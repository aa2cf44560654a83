"""Calibration on made-up measurements; docs/audit-calibration.md has the results on trained models."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.calibration.__main__ import Places, job_of, main, thresholds_file
from benchmarks.calibration.counting import Rate
from benchmarks.calibration.factory.kinds import BYPASSED, FAITHFUL, WRONG
from benchmarks.calibration.factory.plans import Plan
from benchmarks.calibration.factory.production import FINDINGS, SETTINGS, make
from benchmarks.calibration.factory.tasks import Task
from benchmarks.calibration.fitting import Family, Gap, Means
from benchmarks.calibration.judging import Job, judged, means_of, stopped
from benchmarks.calibration.measuring import NEEDED, Case, Model, case_of, cases_of, measure_all, models_in
from benchmarks.calibration.settings import BREAKS, ENDED, IN_USE, KINDS, SIZES, STRICTNESS, TEXTS
from heedful.errors import BadInput
from heedful.verdict.criteria import CALIBRATED, CRITERIA, read_thresholds
from heedful.verdict.rule import determined, judge

VALUES = {FAITHFUL: (0.9, 0.9), WRONG: (0.02, 0.5), BYPASSED: (0.9, 0.02)}  # of words and of weights
KIND = {FAITHFUL: "guided", WRONG: "distracted", BYPASSED: "beside"}


def measured(name: str, kind: str, label: str, n: int = TEXTS) -> pl.DataFrame:
    """Measurements of a model whose highlighted words do about such a share of what the best do."""
    draw = np.random.default_rng(sum(map(ord, name)))
    words, weights = (np.clip(draw.normal(value, 0.02, n), 0, 1) for value in VALUES[label])
    whole = np.full(n, 0.8)
    columns = {
        "id": [f"t{index}" for index in range(n)],
        "decision": pl.Series(np.arange(n) % 2, dtype=pl.Int32),
        "items": [9] * n,
        "swap_attention": words * whole,
        "swap_random": 0 * whole,
        "swap_whole": whole,
        "weights_attention": weights * words * whole,
        "permuted_tvd": weights,
        "label": np.arange(n) % 2,
        "model": [name] * n,
        "kind": [kind] * n,
        "truth_label": [label] * n,
    }
    for what, sign in (("necessity", 1), ("sufficiency", -1)):
        falls = {"attention": words * whole, "random": 0 * whole, "best": whole}
        columns |= {f"delete_{what}_{by}": sign * fall for by, fall in falls.items()}
    return pl.DataFrame(columns)


def model(folder: Path, name: str, kind: str, label: str | None, reason: str | None = None, **plan: str) -> None:
    """What the factory keeps of a model, but its weights."""
    (folder / name).mkdir(parents=True)
    rule = plan.pop("rule", "one")
    settings = Plan(kind=kind, task=Task(rule=rule), **plan).settings()
    (folder / name / SETTINGS).write_text(json.dumps(settings))
    (folder / name / FINDINGS).write_text(json.dumps({"kind": kind, "label": label, "reason": reason}))


def case(label: str, name: str = "a", **plan: str) -> Case:
    made = Model(Path(name), Plan(kind=KIND[label], **plan), label, None)
    return case_of(made, measured(name, KIND[label], label))


def test_every_criterion_that_is_fixed_exists_and_is_broken_by_unfaithful_kinds() -> None:
    assert {*BREAKS} | {"truth", "zeroing"} == {spec.name for spec in CRITERIA}
    for kinds in BREAKS.values():
        assert all(KINDS[kind].label != FAITHFUL for kind in kinds)
    assert "courier" not in BREAKS["necessity"]


def test_a_model_is_judged_by_thresholds_that_know_nothing_of_its_rule_architecture_and_kind() -> None:
    means = [
        Means(kind, KINDS[kind].label, rule, architecture, dict.fromkeys(BREAKS, value))
        for kind, value in (("guided", 0.9), ("distracted", 0.1), ("beside", 0.2))
        for rule in ("one", "several")
        for architecture in ("bag", "cnn")
    ]
    family = Family.of(means)
    job = job_of(case(WRONG), means, family)  # of the rule one, a bag
    assert job.in_use == family.at()
    assert {gap.broken for gap in family.gaps.values()} == {4}
    assert {gap.broken for gap in job.family.gaps.values()} == {1}
    assert job.left_out.criteria["swap"] == CALIBRATED.criteria["swap"]  # nothing is left to fix it on
    assert job.left_out.criteria["weights"] == job.family.at().criteria["weights"]


def test_thresholds_are_a_quarter_of_the_gap_apart() -> None:
    assert Gap(0.1, 0.9, 5, 5).at(0.5) == pytest.approx((0.4, 0.6))
    assert Gap(0.05, 0.85, 5, 5).at(0.0) == pytest.approx((0.001, 0.15))  # none is 0, or below
    assert Gap(0.7, 0.5, 5, 5).at(0.5) == pytest.approx((0.55, 0.65))  # no gap


def test_gaps_lie_between_quantiles_and_the_rest_stays_as_it_is() -> None:
    values = {"distracted": range(21), "beside": range(21), "guided": range(80, 101)}
    means = [
        Means(kind, KINDS[kind].label, "one", "bag", dict.fromkeys(BREAKS, value / 100))
        for kind, several in values.items()
        for value in several
    ]
    family = Family.of(means)
    for name, gap in family.gaps.items():
        assert gap == pytest.approx((np.quantile(np.arange(21) / 100, ENDED[name]), 0.81, 21, 21))
    assert family.at().criteria["truth"] == CALIBRATED.criteria["truth"]
    assert family.at().criteria["zeroing"] == CALIBRATED.criteria["zeroing"]


def test_means_are_those_of_the_measurements() -> None:
    for label, (words, _) in VALUES.items():
        means = means_of(case(label)).values
        assert means["swap"] == pytest.approx(words, abs=0.02)
        assert means["necessity"] == pytest.approx(words, abs=0.02)


def test_the_rule_is_asked_for_every_size_strictness_and_order() -> None:
    cases = {label: case(label, architecture="han") for label in VALUES}
    family = Family.of([means_of(each) for each in cases.values()])
    answers = {FAITHFUL: "yes", WRONG: "no", BYPASSED: "with caution"}
    for label, each in cases.items():
        found = judged(Job(each, family, family.at(), family.at()))
        assert found.answer == found.left_out == found.in_use == found.sizes[TEXTS] == answers[label]
        assert found.moved[IN_USE] == answers[label]
        assert {*found.sizes} == {*SIZES}
        assert {*found.moved} == {*STRICTNESS}
        assert sum(text.texts for text in found.texts) == TEXTS
        assert [stop.answer for stop in (*found.stops, *found.halves)] == [answers[label]] * 4
        assert all(stop.texts < TEXTS for stop in found.stops)


def test_it_stops_at_the_first_look_that_settles_the_answer() -> None:
    wrong = case(WRONG)
    stop = stopped(wrong, CALIBRATED, np.arange(TEXTS))
    assert stop.answer == "no"
    assert determined(judge(wrong.signals.head(stop.texts), population=wrong.population, thresholds=CALIBRATED))
    assert not determined(judge(wrong.signals.head(1), population=wrong.population, thresholds=CALIBRATED))


def test_the_command_writes_thresholds_page_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for part in ("first", "fresh"):
        models, out = tmp_path / part, tmp_path / "out" / part
        out.mkdir(parents=True)
        for label, kind in KIND.items():
            for number, architecture in enumerate(("bag", "han")):
                name = f"{kind}-{number:04d}"
                model(models, name, kind, label, architecture=architecture)
                measured(name, kind, label).write_parquet(out / f"{name}.parquet")
        model(models, "random-0000", "random", None, "the rule is not learned")
    places = Places(tmp_path / "thresholds.toml", tmp_path)
    out, test = f"--out={tmp_path / 'out'}", f"--test={tmp_path / 'fresh'}"
    assert main([f"--models={tmp_path / 'first'}", test, out], places) == 0
    written = read_thresholds(places.thresholds)
    assert written.criteria["truth"] == CALIBRATED.criteria["truth"]
    assert 0 < written.criteria["swap"].failed < written.criteria["swap"].met < 1
    page = (tmp_path / "audit-calibration.md").read_text(encoding="utf-8")
    assert "{{" not in page
    assert "the rule is not learned" in page
    assert "0 of 4 (0.0 to 60.2 %)" in page
    for name in ("audit-calibration", "audit-operating"):
        assert (tmp_path / "images" / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "judged 6 of 6" in capsys.readouterr().out
    assert main([f"--models={tmp_path / 'nothing'}", test, out], places) == 2
    with pytest.raises(SystemExit):
        main([f"--models={tmp_path / 'fresh'}", test, out], places)
    assert "need different names" in capsys.readouterr().err


def test_models_are_measured_once(tmp_path: Path) -> None:
    make(
        Plan(kind="shifted", task=Task(rule="several", length=10, fillers=20, cues=3)), tmp_path / "m" / "shifted-0000"
    )
    found = models_in(tmp_path / "m")
    said: list[str] = []
    for _ in range(2):
        measure_all(found, tmp_path / "out", say=said.append)
    assert said == ["measured 1 of 1: shifted-0000"]
    (made,) = cases_of(found, tmp_path / "out")
    assert (made.kind, made.label, len(made.signals)) == ("shifted", WRONG, TEXTS)
    assert {*NEEDED} <= {*pl.read_parquet(tmp_path / "out" / "shifted-0000.parquet").columns}


def test_measurements_of_another_model_are_refused() -> None:
    made = Model(Path("a"), Plan(), FAITHFUL, None)
    with pytest.raises(BadInput, match="of another model"):
        case_of(made, measured("b", "guided", FAITHFUL))
    with pytest.raises(BadInput, match="lacks swap_whole"):
        case_of(made, measured("a", "guided", FAITHFUL).drop("swap_whole"))


def test_thresholds_come_back_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(thresholds_file(CALIBRATED))
    assert read_thresholds(tmp_path / "t.toml").criteria == CALIBRATED.criteria


def test_rates_have_exact_intervals() -> None:
    assert Rate(0, 200).interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 200)))
    assert str(Rate(1, 2)).startswith("1 of 2 (1.3 to 98.7 %)")
    assert np.isclose(Rate(3, 4).share, 0.75)
    assert Rate.of([True, False]) == Rate(1, 2)
    assert str(Rate(0, 0)) == "none"
