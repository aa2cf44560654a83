"""The data of one run for the site: what its pages show, figure by figure and instance by instance."""

from pathlib import Path
from typing import Any

import polars as pl

from heedful.decoding import TanhDecoder
from heedful.evidence import read_metadata, scan
from heedful.report.findings import findings_words
from heedful.report.rows import columns_of, instance_rows
from heedful.report.site.about import facts
from heedful.report.site.packing import pack, pack_column, write_data
from heedful.report.site.shards import write_shards
from heedful.runs.directory import Run
from heedful.runs.reporter import Reporter

_FIGURES = ("n", "accuracy", "macro_f1", "roc_auc", "average_precision")


def write_run(run: Run, site: Path, key: str, reporter: Reporter) -> dict[str, Any]:
    """Write the instances of a run into the site; what its page is to know of them, and of the run."""
    shards = write_shards(run, site, key, reporter)
    write_data(site, f"{key}/ids", shards.ids)
    there = columns_of(run)
    rows = instance_rows(run, [column.name for column in there])
    columns = [column for column in there if rows[column.name].is_not_null().any()]
    for column in columns:
        write_data(site, f"{key}/column-{column.name}", pack_column(rows[column.name], column.kind))
    return {
        "n": len(rows),
        "texts": shards.fingerprint,
        "shards": {"texts": shards.texts, "maps": shards.maps},
        "bare": shards.bare,
        "columns": [
            {name: getattr(column, name) for name in ("name", "title", "meaning", "kind", "experiment")}
            for column in columns
        ],
        "facts": facts(run),
        "metrics": _metrics(run.metrics),
        "history": [{"epoch": epoch["epoch"], "loss": epoch["loss"], **_dev(epoch)} for epoch in run.epochs()],
        "words": findings_words(run),
        **_outputs(run.folder / "evidence.parquet"),
        "measures": _measures(run),
        "epsilon": run.config.experiment_options.epsilon,
    }


def _metrics(metrics: dict[str, Any]) -> dict[str, Any]:
    return {split: {name: metrics[split][name] for name in _FIGURES} for split in ("dev", "test") if split in metrics}


def _dev(epoch: dict[str, Any]) -> dict[str, Any]:
    return {name: epoch["dev"].get(name) for name in ("accuracy", "macro_f1")}


def _outputs(path: Path) -> dict[str, Any]:
    """How many outputs there are, and the decoder that makes them, where it is not affine."""
    outputs = scan(path).select(pl.col("output").list.len().first()).collect().item()
    about = read_metadata(path)
    decoder = TanhDecoder.from_json(about["decoder"], str(path)) if "decoder" in about else None
    packed = decoder and {
        "weight": pack(decoder.weight),
        "bias": pack(decoder.bias),
        "features": decoder.weight.shape[1],
    }
    return {"outputs": outputs, "decoder": packed}


def _measures(run: Run) -> list[str]:
    return list(run.config.importance.measures) if run.done("importance") else []
