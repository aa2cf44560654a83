"""Audits of planted subjects, small enough for tests."""

from pathlib import Path
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

import heedful
from benchmarks.calibration.planted import Plan, Planted, written

FAITHFUL = Plan(kind="faithful", length=8, instances=34)
TEXTS = written(FAITHFUL)


def planted(kind: str = "faithful", **options: Any) -> Planted:
    """A model of a few words; its `longest` may be set."""
    return Planted(Plan(kind=kind, length=8, instances=34, **options))  # type: ignore[arg-type]


class Short(Planted):
    """Reads six tokens at most."""

    longest = 6


def labels_of(subject: Planted, texts: list[str]) -> list[int]:
    """What it decides, so that it is always right."""
    decided: list[int] = subject.read(subject.encode(texts)).logits.argmax(axis=1).tolist()
    return decided


def assert_same(first: heedful.Audit, second: heedful.Audit) -> None:
    """Two audits found the same, to what floating point makes of other batches."""
    assert first.tests == second.tests
    assert first.verdict.to_json()["answer"] == second.verdict.to_json()["answer"]
    for name in ("evidence", "importance", "signals", *first.tests):
        frames = [pl.read_parquet(audit.folder / audit.manifest["stages"][name]["file"]) for audit in (first, second)]
        assert_frame_equal(frames[0], frames[1], abs_tol=1e-5, rel_tol=1e-5)


def csv(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
