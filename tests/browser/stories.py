"""Runs and audits whose stories differ: faithful and misleading attention, and evidence that cannot tell all."""

from dataclasses import replace
from pathlib import Path

import heedful
from benchmarks.calibration.planted import Plan, Planted, written
from heedful.runs.directory import Run
from tests.audits.made import csv, labels_of
from tests.making import make_evidence
from tests.report.made_run import made_run


def audited(kind: str, out: Path) -> Path:
    """The audit of a model whose attention is faithful, or not, on a file of its texts."""
    plan = Plan(kind=kind, length=10, instances=120)  # type: ignore[arg-type]
    model, texts = Planted(plan), written(plan)
    labels = labels_of(model, texts)
    rows = (f'"{text}",{model.classes[label]}' for text, label in zip(texts, labels, strict=True))
    data = csv(out.parent / f"{kind} texts.csv", ["text,label", *rows])
    return heedful.audit(model, data=data, out=out, threads=1).folder


def without_adversary(folder: Path) -> Run:
    """Only shuffled and uniform weights were tried."""
    return made_run(folder, make_evidence(n=40), experiments=("permutation", "substitution"))


def untested(folder: Path) -> Run:
    """A model was trained and nothing was tested."""
    return made_run(folder, make_evidence(n=12), experiments=())


def recorded(folder: Path) -> Run:
    """The tests were performed with the model: evidence alone cannot say what other weights would do."""
    evidence = make_evidence(n=40)
    run = made_run(folder, evidence, experiments=("adversary", "permutation"))
    replace(evidence, scores=None, bias=None).write(folder / "evidence.parquet")
    return run


def single_items(folder: Path) -> Run:
    """Texts of one item each: there is no other attention."""
    return made_run(folder, make_evidence(n=12, longest=1), experiments=("adversary", "permutation"))
