"""Perform a run: open or create its directory and perform the stages that are missing."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from heedful.corpora.corpus import Corpus, deletion_named
from heedful.corpora.loading import load
from heedful.errors import HeedfulError
from heedful.evidence import scan
from heedful.printable import class_list, tally
from heedful.progress import Reporter
from heedful.runs.config import resolve
from heedful.runs.directory import PLAUSIBILITY, STAGES, Run
from heedful.runs.experiment_stages import choose_experiments, parse_experiments
from heedful.runs.plausibility import MarkedTable, write_plausibility
from heedful.runs.sources import Sources, check_reading
from heedful.runs.stages import prepare, train_model, write_evidence
from heedful.runs.workers import Workers
from heedful.version import __version__
from heedful.workspace.environment import change_of_version, code_fingerprint, threads, versions

_FROM_CORPUS = {"prepare": prepare, "train": train_model, "evidence": write_evidence}


def run(
    corpus: str,
    *,
    out: Path | str = "runs",
    data: Path | str | None = None,
    experiments: str | Sequence[str] | None = None,
    workers: int = 1,
    rationales: Path | str | None = None,
    private: bool = False,
    **values: Any,
) -> Run:
    """Train a model on a corpus, write its evidence and perform experiments on it; resume a run that is not finished.

    `experiments`: names as in `heedful.experiments`; None: the default ones, an empty list: none, "all": every one.
    `workers`: processes that share importance and experiments; results do not depend on their number.
    `rationales`: for corpus `table`, the words that people marked: a file, or a column of the table.
    `private`: only you can read the run and the cached corpus, as with restricted corpora.
    `values`: those of a configuration file: `encoder`, `attention`, `preset`, `seed`, `subset`, `threads`, and the
    tables `corpus_options`, `vocabulary`, `embedding`, `encoder_options`, `training`, `importance` and
    `experiment_options` as dictionaries.
    """
    options: dict[str, Any] = {"experiments": experiments, "workers": workers, "rationales": rationales}
    options["private"] = private
    return perform({"corpus": corpus, **values}, out=out, data=data, **options)


def perform(
    values: Mapping[str, Any],
    *,
    out: Path | str = "runs",
    data: Path | str | None = None,
    experiments: str | Iterable[str] | None = None,
    workers: int = 1,
    rationales: Path | str | None = None,
    private: bool = False,
    reporter: Reporter | None = None,
) -> Run:
    """Perform what is missing of the run that `values` describe (see `resolve`); options as in `run`."""
    reporter, config = reporter or Reporter(), resolve(values)
    names, pool = parse_experiments(experiments), Workers(workers, config.threads)
    run = Run.at(Path(out) / config.name, config)
    private = private or run.private
    Sources(data).check(run)
    marked = None if rationales is None else MarkedTable.of(config, rationales, data)
    if run.missing(["evidence"]):
        corpus = _corpus(run, data, reporter, private=private)  # before anything is written
        columns = corpus.columns
    else:
        corpus = None
        columns = scan(run.folder / "evidence.parquet").collect_schema().names()
    wanted = ["evidence", *choose_experiments(names, columns)]
    other = False  # whether it was compared with other rationales before
    if marked is not None:
        wanted.append(PLAUSIBILITY)
        other = run.done(PLAUSIBILITY) and run.manifest.get("rationales") != marked.facts
        if other or run.missing([PLAUSIBILITY]):
            marked.spans(set())  # what does not fit is refused before anything is computed
    if other or run.missing(wanted) or not (run.folder / run.OPTIONS).exists():
        with run.session(partial(_is_worthless, run), private=private), threads(config.threads), pool:
            if other:
                run.forget([PLAUSIBILITY])
            missing = run.missing(wanted)
            run.forget(missing)
            run.write_config()
            _record_provenance(run)
            change = change_of_version(run.manifest)
            if missing and change:
                reporter.start(run.folder.name)
                reporter.finish(change)
            for stage in missing:
                with run.performing(STAGES[stage]):
                    if corpus is not None and stage in _FROM_CORPUS:
                        with deletion_named(corpus.path):
                            _FROM_CORPUS[stage](run, corpus, reporter)
                    elif stage == PLAUSIBILITY and marked is not None:
                        write_plausibility(run, marked, reporter)
                    else:
                        pool.perform(run, stage, reporter)
    run.discard_checkpoint()
    return run


def _is_worthless(run: Run, error: Exception) -> bool:
    """Whether a new run that failed with this error left nothing to resume from."""
    return isinstance(error, HeedfulError | MemoryError) and not run.manifest["stages"]


def _corpus(run: Run, data: Path | str | None, reporter: Reporter, *, private: bool) -> Corpus:
    config = run.config
    reporter.start(f"reading {config.corpus}")
    read = 0

    def progress(count: int) -> None:
        nonlocal read
        read += count
        reporter.reach(read, f"{read:,} documents")

    options: dict[str, Any] = {"options": config.corpus_options, "data": data, "subset": config.subset}
    corpus = load(config.corpus, **options, private=private, progress=progress)
    notice = check_reading(run, corpus)
    sizes = corpus.sizes()
    counted = "; ".join(f"{name} {tally(counts, sizes[name])}" for name, counts in corpus.counts().items())
    reporter.finish(f"{counted}; classes {class_list(corpus.classes)}")
    for note in corpus.notes:
        reporter.notice(f"{config.corpus}: {note}")
    if notice:
        reporter.notice(f"{run.folder.name}: {notice}")
    return corpus


def _record_provenance(run: Run) -> None:
    if not run.manifest["stages"]:  # otherwise the code and versions of the first stages stand
        run.record(
            run=run.folder.name, seed=run.config.seed, heedful=__version__, code=code_fingerprint(), versions=versions()
        )
