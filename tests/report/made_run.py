"""A run directory made up from evidence, without training: of any size, with any texts."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from heedful.evidence import Evidence
from heedful.experiments import EXPERIMENTS
from heedful.files import write_json, write_parquet
from heedful.runs.config import resolve
from heedful.runs.directory import STAGES, Run
from tests.making import make_evidence, make_importance

QUICK = (
    "correlation",
    "permutation",
    "adversary",
    "reach",
    "substitution",
    "violation",
    "single_weight",
    "removal",
    "truth",
)


def made_run(folder: Path, evidence: Evidence | None = None, *, experiments: Sequence[str] = QUICK) -> Run:
    """A finished run whose model is nobody's: its experiments are real, its training is not."""
    evidence = make_evidence(n=30, longest=8) if evidence is None else evidence
    run = Run(folder, resolve({"corpus": "planted"}))
    run.write_config()
    for name in ("vocabulary.parquet", "model.safetensors", "training.jsonl"):
        (folder / name).touch()
    evidence.write(folder / "evidence.parquet")
    importance = make_importance(evidence).with_columns(error=pl.lit(None, dtype=pl.Float32))
    order = pl.DataFrame({"id": list(evidence.ids), "row": range(len(evidence))})
    write_parquet(
        folder / "importance.parquet",
        importance.join(order, on="id").sort("row", maintain_order=True).drop("row"),
    )
    for name in experiments:
        given = [evidence, importance] if name == "correlation" else [evidence]
        write_parquet(folder / STAGES[name].files[0], EXPERIMENTS[name](*given))
    labels = evidence.labels
    right = None if labels is None else float((evidence.decisions == labels).mean())
    scores = {"n": len(evidence), "accuracy": right, "macro_f1": right, "roc_auc": None, "average_precision": None}
    write_json(folder / "metrics.json", {"test": scores})
    counts = [0 if labels is None else int((labels == index).sum()) for index in range(len(evidence.classes))]
    corpus = {
        "classes": list(evidence.classes),
        "counts": dict.fromkeys(("train", "dev", "test"), counts),
        "subset": False,
        "vocabulary": 1,
        "mean_length": 1.0,
    }
    done = ("prepare", "train", "evidence", "importance", *experiments)
    cost = {"seconds": 0.0, "peak_memory_mb": 0}
    (folder / "manifest.json").write_text(json.dumps({"corpus": corpus, "stages": dict.fromkeys(done, cost)}))
    return run
