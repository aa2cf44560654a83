"""A finished run without a model: made-up evidence, and the experiments on it."""

from pathlib import Path

from heedful.evidence import Evidence
from heedful.experiments import EXPERIMENTS, correlation
from heedful.files import write_parquet
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from tests.making import make_evidence, make_importance


def make_run(folder: Path, evidence: Evidence | None = None, *, performed: tuple[str, ...] = ()) -> Run:
    """A run directory with the results of the named experiments."""
    evidence = make_evidence(n=30, longest=8) if evidence is None else evidence
    run = Run.at(folder, resolve({"corpus": "planted"}))
    run.write_config()
    evidence.write(folder / "evidence.parquet")
    for name in ("vocabulary.parquet", "training.jsonl", "model.safetensors", "metrics.json"):
        (folder / name).touch()
    for name in performed:
        known = name == "correlation"
        found = correlation(evidence, make_importance(evidence)) if known else EXPERIMENTS[name](evidence)
        write_parquet(folder / "results" / f"{name}.parquet", found)
    run.record(
        corpus={"classes": list(evidence.classes), "subset": False, "counts": {}},
        stages={stage: {} for stage in ("prepare", "train", "evidence", *performed)},
    )
    return run
