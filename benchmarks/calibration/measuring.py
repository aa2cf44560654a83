"""Models of the factory through the tests that the verdict needs, one Parquet file each."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch

from benchmarks.calibration.factory.plans import Plan
from benchmarks.calibration.factory.production import FINDINGS, SETTINGS, finished, load
from benchmarks.calibration.settings import TEXTS
from heedful.audits.battery import BATTERY
from heedful.audits.battery.readings import outputs_of
from heedful.audits.battery.subject_texts import SubjectTexts, ways_of
from heedful.errors import BadInput
from heedful.files import write_parquet
from heedful.importance.highlights import Donors, highlights
from heedful.importance.table import attributions
from heedful.randomness import keys
from heedful.verdict.signals import signals

METHODS = ("leave_one_out", "gradient_input")  # attribution methods beside attention
TOLERANCE = 0.01
ABOUT = ("model", "kind", "truth_label", "label")  # of a file's columns: those that no test has measured
NEEDED = (
    *("id", "decision", "items", "permuted_tvd", *ABOUT),
    *(f"delete_{what}_{by}" for what in ("necessity", "sufficiency") for by in ("attention", "random", "best")),
    *("swap_attention", "swap_random", "swap_whole", "weights_attention"),
)


class Model(NamedTuple):
    """A model of the factory, by what it was made of and what the checks say of it."""

    folder: Path
    plan: Plan
    label: str | None
    reason: str | None  # of its exclusion

    @property
    def name(self) -> str:
        return self.folder.name


class Case(NamedTuple):
    """A model as the rule sees it."""

    name: str
    kind: str
    label: str
    rule: str
    architecture: str
    signals: pl.DataFrame  # one row a text
    labels: list[int]  # of the texts, by the rule

    @property
    def population(self) -> dict[int, int]:
        """How many texts are decided for each class."""
        return dict(sorted(Counter(self.signals["decision"].to_list()).items()))


def models_in(folder: Path) -> list[Model]:
    """All models of a folder, of their kind or not."""
    found = [_model(each) for each in sorted(folder.iterdir()) if finished(each)] if folder.is_dir() else []
    if not found:
        raise BadInput(f"{folder} holds no models: python -m benchmarks.calibration.factory makes them")
    return found


def measure_all(models: Iterable[Model], out: Path, *, workers: int = 1, say: Callable[[str], None] = print) -> None:
    """Measure every model of its kind that has no file yet."""
    todo = [model for model in models if model.reason is None and not _file(out, model).is_file()]
    if not todo:
        return
    out.mkdir(parents=True, exist_ok=True)
    jobs = [(model.folder, _file(out, model), model.plan.kind, str(model.label)) for model in todo]
    for count, name in enumerate(spread(measure_and_keep, jobs, workers), start=1):
        say(f"measured {count} of {len(jobs)}: {name}")


def measure_and_keep(job: tuple[Path, Path, str, str]) -> str:
    """Measure one model of many; processes find this function here."""
    torch.set_num_threads(1)
    folder, file, kind, label = job
    about = {"model": folder.name, "kind": kind, "truth_label": label}
    frame = measured(folder).with_columns(pl.lit(value).alias(name) for name, value in about.items())
    write_parquet(file, frame)
    return folder.name


def measured(folder: Path, texts: int = TEXTS) -> pl.DataFrame:
    """The highlighted words and shuffled weights of a model's first texts, as an audit tests them."""
    subject, written, labels, _ = load(folder)
    ids = [f"t{index}" for index in range(len(written))]
    everything = subject.encode(written)
    read = subject.read(everything)
    donors = Donors(everything, read.weights, outputs_of(read.logits), keys(ids))
    some, named = everything.take(np.arange(min(texts, len(ids)))), ids[:texts]
    seen = subject.read_and_keep(some)
    instances = SubjectTexts(subject, some, seen)
    rankings = attributions(instances, names=list(METHODS), tolerance=TOLERANCE)
    found = highlights(instances, named, seen.weights, donors, rankings=rankings, ways=ways_of(subject), seed=0)
    shuffled = BATTERY["permutation"].perform(subject, named, some, seen, seed=0)
    return found.with_columns(shuffled["median"].alias("permuted_tvd"), pl.Series("label", labels[:texts]))


def cases_of(models: Iterable[Model], out: Path) -> Iterator[Case]:
    """The signals of every model of its kind, from its file."""
    for model in models:
        if model.reason is None:
            yield case_of(model, pl.read_parquet(_file(out, model)))


def case_of(model: Model, frame: pl.DataFrame) -> Case:
    """The signals of a model's measurements."""
    missing = [name for name in NEEDED if name not in frame.columns]
    if missing or set(frame["model"]) != {model.name} or set(frame["kind"]) != {model.plan.kind}:
        wrong = f"lacks {', '.join(missing)}" if missing else "is of another model"
        raise BadInput(f"The measurements of {model.name} cannot be used (the file {wrong}): remove the file")
    shuffled = frame.select("id", "items", "decision", median="permuted_tvd")
    found = signals({"highlights": frame.drop(ABOUT), "permutation": shuffled})
    plan = model.plan
    labels = frame["label"].to_list()
    return Case(model.name, plan.kind, str(model.label), plan.task.rule, plan.architecture, found, labels)


def spread(work: Callable[[Any], Any], jobs: list[Any], workers: int) -> Iterator[Any]:
    """Results of jobs as they are done, one by one or by so many processes."""
    if workers == 1:
        yield from map(work, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(work, job) for job in jobs]):
            yield done.result()


def _model(folder: Path) -> Model:
    found = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
    plan = Plan.of(json.loads((folder / SETTINGS).read_text(encoding="utf-8")))
    return Model(folder, plan, found["label"], found["reason"])


def _file(out: Path, model: Model) -> Path:
    return out / f"{model.name}.parquet"
