"""The data of one run for the site: what its pages show, figure by figure and instance by instance."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from heedful.evidence import read_metadata, scan
from heedful.experiments import EXPERIMENT_NAMES
from heedful.findings.cache import kept, kept_files
from heedful.findings.gathering import AuditedRun
from heedful.findings.instance_table import columns_of, instance_rows
from heedful.findings.key_figures import key_figures
from heedful.findings.labels import Label
from heedful.findings.run_facts import why_missing
from heedful.findings.story import story
from heedful.progress import Reporter
from heedful.report.charts import CHARTS, Facts
from heedful.report.charts.data import run_rows, select
from heedful.report.charts.render import render
from heedful.report.heatmaps.gallery import write_gallery
from heedful.report.site import shards
from heedful.report.site.packing import pack, pack_column, write_data
from heedful.report.terminal.findings import findings_words
from heedful.runs.directory import Run
from heedful.tanh_decoder import TanhDecoder
from heedful.verdict.criteria import QUESTIONS
from heedful.verdict.verdict import Verdict
from heedful.workspace.environment import mixture, performers

_SETTINGS = ("corpus", "model", "encoder", "attention", "seed", "preset")
_METRICS = ("n", "accuracy", "macro_f1", "roc_auc", "average_precision")


def about_run(run: Run, key: str, label: Label) -> dict[str, Any]:
    """Plain values; `key` names the run in addresses and files, `label` for people."""
    config, figures = run.config, key_figures(run)
    return {
        "key": key,
        "title": _title(run, label),
        "folder": run.folder.name,
        **{name: getattr(config, name) for name in _SETTINGS},
        "subset": bool(run.manifest["corpus"]["subset"]),
        "corpus_label": label[0],
        "model_label": label[1],
        "classes": list(run.classes),
        **kept("texts", run, lambda: _texts(run)),
        "figures": {name: known and known._asdict() for name, known in figures.items()},
        "verdict": kept("verdict", run, lambda: _verdict(run.verdict)),
        "story": kept("story", run, lambda: story(run, run.verdict)),
        "audited": isinstance(run, AuditedRun),
        "missing": [reason for reason in (why_missing(run, name) for name in EXPERIMENT_NAMES) if reason is not None],
    }


def _title(run: Run, label: Label) -> str:
    """What people call it."""
    corpus, model = label
    if not isinstance(run, AuditedRun):
        return f"{corpus}, {model}"
    data = corpus.replace(" (audited)", "")
    return f"Audit of {model}" if data == model else f"Audit of {model} on {data}"


def _texts(run: Run) -> dict[str, bool]:
    columns = scan(run.folder / "evidence.parquet").collect_schema().names()
    return {"sentences": "words" in columns, "query": "query" in columns}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """Answer, reason and criteria, figures as text; the overview has them for all runs, so instances are left out."""
    criteria = [
        {"name": each.name, "part": each.part, "question": each.question, "outcome": each.outcome}
        | {"decisive": each.decisive, "words": each.words, **each.display()}
        for each in verdict.criteria
        if each.decisive or each.n
    ]
    questions = [(asked, [each for each in criteria if each["part"] == part]) for part, asked in QUESTIONS.items()]
    classes = [{"name": each.name, "answer": each.answer, "words": each.words} for each in verdict.classes]
    shown = {"criteria": criteria, "questions": questions, "classes": classes}
    return {**verdict.to_json(), **shown, "tested": verdict.tested, "reason": _reason(verdict)}


def _reason(verdict: Verdict) -> str:
    """The verdict in words, without the answer that stands above it."""
    words = re.sub(r"^(Yes|No|Not determined)[,:] ", "", verdict.words)
    return words[:1].upper() + words[1:]


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
        ("heedful", mixture(manifest) or ", ".join(performers(manifest))),
        ("versions", ", ".join(f"{name} {version}" for name, version in manifest.get("versions", {}).items())),
        ("directory", run.folder.name),
    ]


def write_run_files(run: Run, site: Path, key: str, reporter: Reporter, *, formats: Sequence[str]) -> dict[str, Any]:
    """Write the data and the figures of a run, or copy those kept from the last time; what its page needs to know."""
    places = (f"data/{key}", f"figures/{key}")
    sizes = {"batch": shards.BATCH, "shard": shards.SHARD, "features": shards.FEATURES}

    def write() -> dict[str, Any]:
        data = write_run(run, site, key, reporter)
        charts = write_charts(run, site, key, formats=formats)
        return {**data, "charts": charts, "gallery": write_instances(run, site, key, formats=formats)}

    about: dict[str, Any] = kept_files("site", run, write, site, places, formats=list(formats), sizes=sizes)
    return about


def write_charts(run: Run, site: Path, key: str, *, formats: Sequence[str]) -> list[dict[str, Any]]:
    """Draw the charts of a run into files; what its page is to know of them. One that is missing says why."""
    facts, missing = Facts.of(run), {name: chart.missing(run) for name, chart in CHARTS.items()}
    rows = run_rows(run, [chart for name, chart in CHARTS.items() if missing[name] is None])
    known = []
    for name, chart in CHARTS.items():
        about: dict[str, Any] = {"name": name, "title": chart.title, "caption": chart.caption, "missing": missing[name]}
        drawn = select(rows, chart) if missing[name] is None else []
        if missing[name] is None and not chart.shown(drawn):
            about["missing"] = "it would be empty, as its figures are undefined for every text"
        if about["missing"] is None:
            spec = chart.spec(facts)
            files = render(spec, drawn, site / "figures" / key / name, formats=formats)
            about |= {
                "spec": spec,
                "columns": [column for column in (*chart.columns, *chart.optional) if column in rows.columns],
                "brush": chart.brush and list(chart.brush),
                "within": {column: [low, high] for column, low, high in chart.within},
                "points": chart.points,
                "files": [file.relative_to(site).as_posix() for file in files],
            }
        known.append(about)
    return known


def write_instances(run: Run, site: Path, key: str, *, formats: Sequence[str]) -> list[dict[str, Any]]:
    """Draw the gallery of a run into files; the instances in it. None without adversarial attention."""
    if not run.done("adversary"):
        return []
    written = write_gallery(run, site / "figures" / key / "gallery", formats=(*formats, "tex") if formats else ())
    return [
        {name: getattr(chosen, name) for name in ("id", "index", "rank", "decision", "jsd")}
        | {"files": [file.relative_to(site).as_posix() for file in files]}
        for chosen, files in written.items()
    ]


def write_run(run: Run, site: Path, key: str, reporter: Reporter) -> dict[str, Any]:
    """Write the instances of a run into the site; what its page is to know of them, and of the run."""
    written = shards.write_shards(run, site, key, reporter)
    write_data(site, f"{key}/ids", written.ids)
    there = columns_of(run)
    rows = instance_rows(run, [column.name for column in there])
    columns = [column for column in there if rows[column.name].is_not_null().any()]
    for column in columns:
        write_data(site, f"{key}/column-{column.name}", pack_column(rows[column.name], column.kind))
    return {
        "n": len(rows),
        "texts": written.fingerprint,
        "shards": {"texts": written.texts, "maps": written.maps},
        "bare": written.bare,
        "columns": [
            {name: getattr(column, name) for name in ("name", "title", "meaning", "kind", "experiment")}
            for column in columns
        ],
        "facts": facts(run),
        "metrics": {
            split: {name: run.metrics[split][name] for name in _METRICS}
            for split in ("dev", "test")
            if split in run.metrics
        },
        "history": [
            {"epoch": epoch["epoch"], "loss": epoch["loss"]}
            | {name: epoch["dev"].get(name) for name in ("accuracy", "macro_f1")}
            for epoch in run.epochs()
        ],
        "words": findings_words(run),
        **_outputs(run.folder / "evidence.parquet"),
        "measures": written.measures,
        "epsilon": run.config.experiment_options.epsilon,
    }


def _outputs(path: Path) -> dict[str, Any]:
    """How many outputs there are, and the decoder that makes them, where it is not affine."""
    outputs = scan(path).select(pl.col("output").list.len().first()).collect().item()
    about = read_metadata(path)
    decoder = TanhDecoder.from_json(about["decoder"], str(path)) if "decoder" in about else None
    if decoder is None:
        return {"outputs": outputs, "decoder": None}
    packed = {"weight": pack(decoder.weight), "bias": pack(decoder.bias), "features": decoder.weight.shape[1]}
    return {"outputs": outputs, "decoder": packed}
