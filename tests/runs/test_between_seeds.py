"""Runs of one configuration beside each other."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import heedful.runs.between_seeds
from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.measures import jsd
from heedful.runs.between_seeds import between, by_configuration
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from tests.making import make_evidence
from tests.report.seeded import seeded


def run_at(folder: Path, evidence: Evidence, **values: object) -> Run:
    run = Run(folder, resolve({"corpus": "planted", **values}))
    run.write_config()
    evidence.write(folder / "evidence.parquet")
    (folder / "metrics.json").write_text("{}")
    (folder / "manifest.json").write_text('{"corpus": {"classes": [], "subset": false}, "stages": {"evidence": {}}}')
    return run


def test_each_two_runs_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heedful.runs.between_seeds, "BATCH", 3)
    base = make_evidence(4, n=10, outputs=3)
    all_ = [seeded(base, seed) for seed in range(3)]
    runs = [run_at(tmp_path / f"run-{seed}", evidence, seed=seed) for seed, evidence in enumerate(all_)]
    found = between(runs, draws=50)
    pairs = list(combinations(range(3), 2))
    assert found.pairs.select("first", "second").rows() == [(f"run-{one}", f"run-{other}") for one, other in pairs]
    plain = np.stack([jsd(all_[one].weights, all_[other].weights) for one, other in pairs])  # (P, n)
    same = np.stack([all_[one].decisions == all_[other].decisions for one, other in pairs])
    assert np.allclose(found.pairs["jsd"], plain.mean(axis=1))
    assert np.allclose(found.pairs["same"], same.mean(axis=1))
    assert (found.pairs["jsd_low"] <= found.pairs["jsd"]).all()
    assert (found.pairs["jsd"] <= found.pairs["jsd_high"]).all()
    assert found.instances["id"].to_list() == list(base.ids)
    assert np.allclose(found.instances["jsd"], plain.mean(axis=0))
    assert np.allclose(found.instances["same"], same.mean(axis=0))


def test_what_cannot_be_compared_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heedful.runs.between_seeds, "BATCH", 3)
    base = make_evidence(4, n=9)
    one, fewer = run_at(tmp_path / "one", base), run_at(tmp_path / "fewer", base.slice(0, 6))
    words = base.tokens.like(np.array(["w"] * len(base.tokens.values), dtype=object))
    other = run_at(tmp_path / "other", replace(base, tokens=words))
    with pytest.raises(BadInput, match="one and fewer: one has more instances"):
        between([one, fewer])
    with pytest.raises(BadInput, match="one and other: instance 'i0' has other items"):
        between([one, other])
    with pytest.raises(BadInput, match="at least two"):
        between([one])


def test_only_the_seed_may_differ(tmp_path: Path) -> None:
    values = [{"seed": 1}, {"encoder": "cnn"}, {"seed": 0}, {"training": {"epochs": 1}}]
    runs = [Run(tmp_path / str(number), resolve({"corpus": "planted", **each})) for number, each in enumerate(values)]
    named = [[run.folder.name for run in group] for group in by_configuration(runs)]
    assert named == [["2", "0"], ["1"], ["3"]]
