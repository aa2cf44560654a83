"""What the site says of a run on every page: who it is, its key figures, the verdict."""

from typing import Any

from heedful.evidence import scan
from heedful.report.audited import AuditedRun
from heedful.report.key_figures import key_figures
from heedful.report.labels import Label
from heedful.report.lacking import lacking
from heedful.report.verdict import verdict
from heedful.runs.directory import Run
from heedful.runs.naming import EXPERIMENT_NAMES

_SHOWN = ("corpus", "model", "encoder", "attention", "seed", "preset")


def about_run(run: Run, key: str, label: Label) -> dict[str, Any]:
    """Plain values; `key` names the run in addresses and files, `label` for people."""
    config, figures = run.config, key_figures(run)
    columns = scan(run.folder / "evidence.parquet").collect_schema().names()
    return {
        "key": key,
        "title": ", ".join(label),
        "folder": run.folder.name,
        **{name: getattr(config, name) for name in _SHOWN},
        "subset": bool(run.manifest["corpus"]["subset"]),
        "corpus_label": label[0],
        "model_label": label[1],
        "classes": list(run.classes),
        "sentences": "words" in columns,
        "query": "query" in columns,
        "figures": {name: known and known.to_json() for name, known in figures.items()},
        "verdict": (run.verdict() if isinstance(run, AuditedRun) else verdict(run, figures)).to_json(),
        "missing": [reason for reason in (lacking(run, name) for name in EXPERIMENT_NAMES) if reason is not None],
    }


def facts(run: Run) -> list[tuple[str, str]]:
    """Provenance and cost, for whoever wants to do it again."""
    if isinstance(run, AuditedRun):
        return run.facts()
    manifest, config = run.manifest, run.config
    corpus = manifest["corpus"]
    sizes = {split: sum(counts) for split, counts in corpus["counts"].items()}
    seconds = sum(stage["seconds"] for stage in manifest["stages"].values())
    memory = max(stage["peak_memory_mb"] or 0 for stage in manifest["stages"].values())
    return [
        ("texts", ", ".join(f"{size:,} {split}" for split, size in sizes.items())),
        ("vocabulary", f"{corpus['vocabulary']:,} words, {corpus['mean_length']:.0f} tokens a text"),
        ("preset", config.preset),
        ("seed", str(config.seed)),
        ("word vectors", config.embedding.vectors or "random"),
        ("cost", f"{seconds:,.0f} s, {memory / 1000:.1f} GB of memory at most"),
        ("versions", ", ".join(f"{name} {version}" for name, version in manifest.get("versions", {}).items())),
        ("directory", run.folder.name),
    ]
