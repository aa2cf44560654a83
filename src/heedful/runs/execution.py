"""Perform a run: find or make its directory, do the stages that are not done, say what happened."""

import platform
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heedful.corpora.corpus import Corpus
from heedful.corpora.loading import load
from heedful.errors import HeedfulError
from heedful.evidence import scan
from heedful.files import content_fingerprint, fingerprint, locked, remove_temporaries
from heedful.printable import tally
from heedful.progress import Reporter
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from heedful.runs.experiment_stages import choose_experiments, parse_experiments
from heedful.runs.sources import Sources, check_reading
from heedful.runs.stages import prepare, train_model, write_evidence
from heedful.runs.workers import Workers, perform_parts
from heedful.version import __version__
from heedful.workspace.environment import peak_memory, threads, versions

_FROM_CORPUS = {"prepare": prepare, "train": train_model, "evidence": write_evidence}


def perform(
    values: Mapping[str, Any],
    *,
    out: Path | str = "runs",
    data: Path | str | None = None,
    experiments: str | Iterable[str] | None = None,
    workers: int = 1,
    reporter: Reporter | None = None,
) -> Run:
    """Perform the run that `values` describe (see `resolve`) with the named experiments (None: all that are usual and
    that its evidence supports), or what is missing of it.

    So many workers share the parts of importance and of the experiments; results do not depend on their number.
    """
    reporter = reporter or Reporter()
    config = resolve(values)
    names, crew = parse_experiments(experiments), Workers(workers, config.threads)
    run = Run.at(Path(out) / config.name, config)
    Sources(data).check(run)
    if run.missing(["evidence"]):
        corpus = _corpus(run, data, reporter)  # before anything is written
        columns = corpus.columns
    else:
        corpus = None
        columns = scan(run.folder / "evidence.parquet").collect_schema().names()
    wanted = ["evidence", *choose_experiments(names, columns)]
    if run.missing(wanted):
        fresh = not run.folder.exists()
        with locked(run.folder), threads(config.threads), crew:
            remove_temporaries(run.folder)
            try:
                missing = run.missing(wanted)
                run.forget(missing)
                _begin(run)
                for stage in missing:
                    with _timed(run, stage):
                        _perform_stage(run, stage, corpus, reporter, crew)
            except (HeedfulError, MemoryError):
                if fresh and not run.manifest["stages"]:  # nothing to go on from: leave no trace
                    shutil.rmtree(run.folder)
                raise
    run.discard_checkpoint()
    return run


def _corpus(run: Run, data: Path | str | None, reporter: Reporter) -> Corpus:
    config = run.config
    reporter.start(f"reading {config.corpus}")
    read = 0

    def progress(count: int) -> None:
        nonlocal read
        read += count
        reporter.reach(read, f"{read:,} documents")

    corpus = load(config.corpus, options=config.corpus_options, data=data, subset=config.subset, progress=progress)
    notice = check_reading(run, corpus)
    sizes = corpus.sizes()
    reporter.finish("; ".join(f"{name} {tally(counts, sizes[name])}" for name, counts in corpus.counts().items()))
    if notice:
        reporter.start(run.folder.name)
        reporter.finish(notice)
    return corpus


def _begin(run: Run) -> None:
    run.write_config()
    if run.manifest["stages"]:  # they were done by the code and the versions that are recorded
        return
    source = Path(__file__).parents[1]
    run.record(
        run=run.folder.name,
        seed=run.config.seed,
        heedful=__version__,
        code=fingerprint([content_fingerprint(path) for path in sorted(source.rglob("*.py"))]),
        versions={"python": platform.python_version(), **dict(versions())},
    )


def _perform_stage(run: Run, stage: str, corpus: Corpus | None, reporter: Reporter, crew: Workers) -> None:
    if corpus is not None and stage in _FROM_CORPUS:
        _FROM_CORPUS[stage](run, corpus, reporter)
    else:
        perform_parts(run, stage, reporter, crew)


@contextmanager
def _timed(run: Run, stage: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    cost = {"seconds": round(time.perf_counter() - started, 3), "peak_memory_mb": peak_memory()}
    run.record(stages={**run.manifest["stages"], stage: cost})


def run(
    corpus: str,
    *,
    out: Path | str = "runs",
    data: Path | str | None = None,
    experiments: str | Sequence[str] | None = None,
    workers: int = 1,
    **values: Any,
) -> Run:
    """Train a model on a corpus, write its evidence and perform experiments on it, or resume what is there of that.

    `experiments` are named as in `heedful.experiments`; None means all usual ones, an empty list none, "all" every one.
    So many `workers` (processes) share importance and experiments; results do not depend on their number.
    `values` are those of a configuration file: `encoder`, `attention`, `preset`, `seed`, `subset`, `threads`, and the
    tables `corpus_options`, `vocabulary`, `embedding`, `encoder_options`, `training`, `importance` and
    `experiment_options` as dictionaries.
    """
    return perform({"corpus": corpus, **values}, out=out, data=data, experiments=experiments, workers=workers)
