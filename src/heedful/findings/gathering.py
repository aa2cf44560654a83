"""Audits among the runs of a report: what pages read of a run, made of an audit.

Shown are the instances that every test was performed on: those of the sample, or all. The verdict is the audit's own.
"""

import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import polars as pl

from heedful.audits.directory import OPTIONS, Audit
from heedful.audits.overview import facts
from heedful.errors import HeedfulError, NotFound
from heedful.evidence import read_metadata
from heedful.files import scan_parquet, write_json, write_parquet
from heedful.findings.cache import kept
from heedful.integrity import Damaged
from heedful.printable import plain_text, printable
from heedful.runs.catalogue import RUN, Places, run_folders
from heedful.runs.config import RunConfig
from heedful.runs.directory import STAGES, Run
from heedful.verdict.verdict import Verdict
from heedful.workspace.folder import damage_named

Made = TypeVar("Made")

# what files with wrong content lead to; versions that recorded no hashes cannot tell otherwise
_DAMAGE = (pl.exceptions.PolarsError, OSError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
_UNKNOWN = dict.fromkeys(("accuracy", "macro_f1", "roc_auc", "average_precision"))


class AuditedRun(Run):
    """An audit as a report reads a run; the files are copies, which vanish with this object."""

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self._place = tempfile.TemporaryDirectory(prefix="heedful-")
        folder = Path(self._place.name) / audit.folder.resolve().name
        options = audit.options
        # a name that no published corpus has, so that no published figure is set beside it
        config = RunConfig(
            corpus=f"{_without_folders(options.data.name)} (audited)",
            encoder=_without_folders(options.model.name),
            attention=str(options.model.about.get("map", "attention")),
            seed=options.seed,
        )
        super().__init__(folder, config)
        self._copy()

    @property
    def origin(self) -> Path:
        """The audit's own directory."""
        return self.audit.folder.resolve()

    @property
    def private(self) -> bool:
        """As the audit's own directory."""
        return self.audit.private

    @property
    def corpus_label(self) -> str:
        """The data."""
        return self.config.corpus

    @property
    def model_label(self) -> str:
        """The model, and the map if it is another one than the usual."""
        usual = self.config.attention in ("attention", "weights")
        return self.config.encoder if usual else f"{self.config.encoder}, {self.config.attention}"

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, numbers where they have none."""
        return tuple(self.manifest["corpus"]["classes"])

    def epochs(self) -> list[dict[str, Any]]:
        """The model was trained elsewhere."""
        return []

    def facts(self) -> list[tuple[str, str]]:
        """What the page of a run says of where it comes from."""
        stages = self.audit.manifest["stages"]
        seconds = sum(cost["seconds"] for cost in stages.values())
        tested = f"{self.manifest['corpus']['sizes']['test']:,} texts, on which every test was performed"
        own = [("shown here", tested), ("cost", f"{seconds:,.0f} s"), ("directory", self.audit.folder.name)]
        return [*facts(self.audit), *own]

    def not_performed(self, stage: str) -> str:
        """An audit performs all that it can."""
        return "is not among the tests of this audit"

    @property
    def verdict(self) -> Verdict:
        """The audit's own."""
        return self.audit.verdict

    def _copy(self) -> None:
        source, ids = self.audit.folder, _tested(self.audit)
        own = pl.col("id").is_in(ids.implode())
        stages = {}
        for stage, known in STAGES.items():
            if stage in (*self.audit.tests, "importance", "evidence") and self.audit.done(stage):
                (file,) = known.files[:1]
                frame = scan_parquet(source / file).filter(own).collect()
                write_parquet(self.folder / file, _ordered(frame, ids), read_metadata(source / file))
                cost = self.audit.manifest["stages"][stage]
                stages[stage] = {"seconds": cost["seconds"], "peak_memory_mb": cost.get("peak_memory_mb")}
        evidence = pl.read_parquet(self.folder / "evidence.parquet")
        outputs = evidence["output"].list.len()[0]
        classes = self.audit.options.model.classes or tuple(map(str, range(max(2, outputs))))
        counts = [0] * len(classes)
        everything = scan_parquet(source / "evidence.parquet")  # as the metrics are, which these stand beside
        if "label" in everything.collect_schema():
            labels = everything.select("label").collect()["label"]
            counts = [int((labels == index).sum()) for index in range(len(classes))]
        corpus = {
            "subset": False,
            "classes": list(classes),
            "counts": {"train": [], "dev": [], "test": counts},
            "sizes": {"train": 0, "dev": 0, "test": len(evidence)},
            "vocabulary": None,
            "mean_length": float(evidence["tokens"].list.len().mean() or 0),  # type: ignore[arg-type]
            "query": "query" in evidence.columns,
        }
        manifest = {"corpus": corpus, "versions": self.audit.manifest["versions"], "stages": stages}
        write_json(self.folder / "manifest.json", manifest)
        metrics = self.audit.metrics or {"n": len(evidence), **_UNKNOWN}
        write_json(self.folder / "metrics.json", {"test": metrics})


def _without_folders(name: str) -> str:
    """The last part of a path, as a title; the facts of the run have it whole."""
    return re.split(r"[/\\]", name.removeprefix("hf:").rstrip("/\\"))[-1]


def _tested(audit: Audit) -> pl.Series:
    """The instances of which every test has a row, in the order of the evidence."""
    ids = scan_parquet(audit.folder / "evidence.parquet").select("id")
    for test in audit.tests:
        rows = scan_parquet(audit.folder / audit.manifest["stages"][test]["file"]).select("id")
        ids = ids.join(rows, on="id", how="semi", maintain_order="left")
    return ids.collect()["id"]


def _ordered(frame: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    """Rows in the order of the evidence, those of an instance together."""
    return ids.to_frame("id").join(frame, on="id", maintain_order="left_right").select(frame.columns)


class Refused(NamedTuple):
    """A run that cannot be shown."""

    folder: Path
    reason: str


class Gathered(NamedTuple):
    """Runs that can be shown, in the order in which they were named, and those that cannot."""

    runs: list[Run]
    refused: list[Refused]


def gather(places: Sequence[Path], *, audits: bool = True) -> Gathered:
    """Open the runs (and audits) of some places; what is unfinished or damaged is refused, a place without any is an
    error."""
    runs: list[Run] = []
    refused: list[Refused] = []
    for folder in run_folders(places, (RUN, OPTIONS) if audits else (RUN,)):
        try:
            plain_text(str(folder), printable(str(folder)))
            with damage_named(folder, *_DAMAGE, remedy="remove it, or make it again"):
                runs.append(_opened(folder))
        except HeedfulError as error:
            refused.append(Refused(Path(printable(str(folder))), printable(str(error))))
    if not runs:
        reasons = "; ".join(str(each.reason) for each in refused)
        raise NotFound(f"there is no run that can be shown: {reasons}")
    return Gathered(runs, refused)


def without_damaged(gathered: Gathered, make: Callable[[Gathered], Made]) -> tuple[Made, Gathered]:
    """What is made of the gathered runs, and of which: a run that turns out to be damaged when its files are read is
    refused, and all is made of the others."""
    while True:
        try:
            return make(gathered), gathered
        except Damaged as error:
            damaged = [run for run in gathered.runs if error.file.resolve().is_relative_to(run.origin.resolve())]
            left = [run for run in gathered.runs if run not in damaged]
            if not damaged or not left:
                raise
            gathered = Gathered(left, [*gathered.refused, *(Refused(run.origin, str(error)) for run in damaged)])


def named_runs(named: Places | Sequence[Run]) -> list[Run]:
    """Runs that a user names: by themselves, or by places; of places, what cannot be read is left out."""
    each = [named] if isinstance(named, Path | str) else named
    runs = [one for one in each if isinstance(one, Run)]
    places = [Path(one) for one in each if not isinstance(one, Run)]
    return [*runs, *(gather(places, audits=False).runs if places else ())]


def _opened(folder: Path) -> Run:
    """A run whose files can be read: one that is damaged must not keep the others from being shown."""
    if (folder / OPTIONS).is_file():
        audit = Audit.load(folder)
        audit.require("verdict")
        return AuditedRun(audit)
    run = FinishedRun.open(folder)
    run.require("evidence")
    kept("readable", run, run.check)
    return run


class FinishedRun(Run):
    """A run whose manifest is read once: reports ask it for hundreds of things."""

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """As it was when it was first read."""
        return self.read_manifest(self.folder)
