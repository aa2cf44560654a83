"""A grouped mean over 200 runs: `heedful.scan` against opening every run and reading its whole frame."""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

import heedful
from benchmarks.report import Result
from heedful.files import write_json
from heedful.runs.config import resolve
from heedful.runs.directory import STAGES, Run
from tests.making import make_evidence

RUNS = 200
INSTANCES = 1725  # as SST's test split
_GROUP = ("corpus", "encoder")


def scan_result(name: str, *, runs: int = RUNS, instances: int = INSTANCES, least: float) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder)
        make_runs(places, runs, instances)
        plain_seconds, plain = timed(lambda: plain_means(places))
        fast_seconds, fast = timed(lambda: scanned_means(places))
    if not plain.sort(_GROUP).select(fast.columns).equals(fast.sort(_GROUP)):
        raise AssertionError("the two ways disagree")
    return Result(name, plain_seconds, fast_seconds, least, {"runs": runs, "instances": instances})


def scanned_means(places: Path) -> pl.DataFrame:
    return heedful.scan(places, "permutation").group_by(_GROUP).agg(pl.col("median").mean().round(9)).collect()


def plain_means(places: Path) -> pl.DataFrame:
    frames = []
    for folder in sorted(places.iterdir()):
        run = Run.open(folder)
        about = {name: pl.lit(getattr(run.config, name)) for name in _GROUP}
        frames.append(run.results("permutation").with_columns(**about))
    return pl.concat(frames).group_by(_GROUP).agg(pl.col("median").mean().round(9))


def make_runs(places: Path, runs: int, instances: int) -> None:
    """Run directories of many configurations and seeds with the same made-up results."""
    frame = heedful.experiments.permutation(make_evidence(n=instances, longest=36))
    source = places / "results.parquet"
    frame.write_parquet(source)
    corpus = {"classes": ["a", "b"], "subset": False}
    file, *_ = STAGES["permutation"].files
    for number in range(runs):
        encoder = ("bilstm", "cnn", "average")[number % 3]
        run = Run(places / f"run-{number:03d}", resolve({"corpus": "planted", "encoder": encoder, "seed": number // 3}))
        run.write_config()
        (run.folder / file).parent.mkdir()
        shutil.copyfile(source, run.folder / file)
        write_json(run.folder / "manifest.json", {"corpus": corpus, "stages": {"permutation": {}}})
    source.unlink()


def timed(call: Callable[[], pl.DataFrame]) -> tuple[float, pl.DataFrame]:
    started = time.perf_counter()
    frame = call()
    return time.perf_counter() - started, frame
