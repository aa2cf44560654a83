"""The last stages: what the tests say of each instance, and what that means for the map."""

import polars as pl

from heedful.audits.directory import Audit
from heedful.audits.rule import judge
from heedful.audits.signals import signals
from heedful.files import Parts, scan_parquet, write_json
from heedful.runs.reporter import Reporter

ROWS = 4096  # instances at a time


def write_signals(audit: Audit, reporter: Reporter) -> None:
    """Write signals.parquet: one row an instance."""
    ids = scan_parquet(audit.folder / "evidence.parquet").select("id").collect()["id"]
    frames = {name: scan_parquet(audit.folder / audit.manifest["stages"][name]["file"]) for name in audit.tests}
    reporter.start("signals", len(ids))
    parts = Parts(audit.folder / "signals.parquet")
    parts.discard()
    for start in range(0, len(ids), ROWS):
        some = pl.col("id").is_in(ids[start : start + ROWS].implode())
        parts.add(signals({name: frame.filter(some).collect() for name, frame in frames.items()}))
        reporter.reach(min(start + ROWS, len(ids)))
    parts.finish()
    reporter.finish(f"{len(ids):,} instances")


def write_verdict(audit: Audit, reporter: Reporter) -> None:
    """Write verdict.json."""
    reporter.start("verdict")
    verdict = judge(scan_parquet(audit.folder / "signals.parquet").collect(), seed=audit.options.seed)
    write_json(audit.folder / "verdict.json", verdict.to_json())
    reporter.finish(verdict.answer)
