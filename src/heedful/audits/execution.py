"""Perform an audit: do the stages that are not done, one part after the other, and judge."""

import platform
import shutil
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from heedful.adapters.affine import affine
from heedful.adapters.checking import check
from heedful.adapters.subject import Subject
from heedful.audits.battery import BATTERY
from heedful.audits.battery.test import Counted
from heedful.audits.directory import Audit
from heedful.audits.evidence_sources import EvidenceSource
from heedful.audits.evidence_stage import copy_evidence, evidence_parts, write_metrics
from heedful.audits.given_importance import GivenImportance, Misfit, write_given
from heedful.audits.plan import Stage, exact_tests, plan
from heedful.audits.test_stages import (
    attribution_parts,
    battery_parts,
    correlation_parts,
    costed,
    exact_parts,
    given_parts,
    importance_parts,
    perform_parts,
    write_signals,
    write_verdict,
)
from heedful.audits.text_sources import Source
from heedful.audits.texts_stage import Reader, prepare
from heedful.errors import BadConfig, BadInput
from heedful.files import locked, remove_temporaries
from heedful.progress import Reporter
from heedful.version import __version__
from heedful.workspace.environment import threads as limited
from heedful.workspace.environment import versions
from heedful.workspace.parts import StageParts

PROBES = 16


def check_contract(audit: Audit, subject: Subject, reporter: Reporter) -> None:
    """Refuse a model that cannot be listened to; record what was measured, and whether its logits are affine in its
    attention (`exact`), so that all parts of the evidence are alike."""
    reporter.start("checking the model")
    reader = Reader(audit, subject)
    order = np.argsort(reader.lengths, kind="stable")
    rows = np.unique(order[np.linspace(0, len(order) - 1, num=min(PROBES, len(order))).round().astype(np.int64)])
    _, texts, _ = reader(rows)
    contract = check(subject, texts)
    exact = audit.options.exact and affine(subject, texts)
    audit.record(contract={**{name: float(value) for name, value in contract._asdict().items()}, "exact": exact})
    reporter.finish(f"its own attention put back moves logits by {contract.identity:.1e}")


_BY_MODEL = {"attributions": attribution_parts, "importance": importance_parts}


@dataclass(frozen=True)
class Inputs:
    """What an audit is made from: a model and texts, or evidence; perhaps importance from elsewhere."""

    subject: Subject | None = None
    source: Source | None = None
    filed: EvidenceSource | None = None
    given: GivenImportance | None = None

    def check(self) -> None:
        """Raise if there is nothing that could be tested."""
        if self.filed is not None and self.given is None and not exact_tests(self.filed.columns):
            raise BadInput(
                f"{self.filed.name}: nothing can be tested on weights and outputs alone; give the columns 'scores' and "
                "'bias' (docs/formats.md), importance from elsewhere (--importance), or the model itself"
            )


def perform(audit: Audit, inputs: Inputs, *, threads: int = 0, reporter: Reporter | None = None) -> Audit:
    """Do what is missing of an audit; with so many threads of arithmetic (0: as torch has it)."""
    inputs.check()
    if threads < 0:
        raise BadConfig(f"threads = {threads}: give a number of threads, or 0 for as many as torch takes")
    fresh = not audit.folder.exists()
    with locked(audit.folder), limited(threads) if threads else nullcontext():
        remove_temporaries(audit.folder)
        try:
            _Session(audit, inputs, reporter or Reporter()).work()
        except Exception as error:
            if fresh and (isinstance(error, Misfit) or _nothing_done(audit)):
                shutil.rmtree(audit.folder)
            raise
    return audit


def _nothing_done(audit: Audit) -> bool:
    """Whether there is nothing worth going on from: data that was read once more is no loss."""
    manifest = audit.manifest
    return not manifest["stages"].keys() - {"texts"} and "evidence" not in manifest.get("begun", {})


class _Session:
    """One session of work on an audit."""

    def __init__(self, audit: Audit, inputs: Inputs, reporter: Reporter) -> None:
        self.audit, self.inputs, self.reporter = audit, inputs, reporter
        self.readings = 0
        self.exact: tuple[str, ...] = ()  # tests that need no reading
        self.model = None if inputs.subject is None else Counted(inputs.subject, self._count)

    def work(self) -> None:
        """Everything that is missing."""
        audit, filed = self.audit, self.inputs.filed
        audit.write_options()
        if "heedful" not in audit.manifest:
            told = {"python": platform.python_version(), **dict(versions())}
            audit.record(audit=audit.folder.name, heedful=__version__, versions=told)
        if self.inputs.subject is not None:
            self._do(plan((), battery=BATTERY, given=False)[:1])  # the texts: to check the model with
            if "contract" not in audit.manifest:
                check_contract(audit, self.inputs.subject, self.reporter)
            columns: tuple[str, ...] = ("scores",) if audit.manifest["contract"]["exact"] else ()
        else:
            columns = filed.columns if filed is not None else ()
        self.exact = exact_tests(columns)
        battery = () if self.model is None else BATTERY
        done, page = self._do(plan(columns, battery=battery, given=self.inputs.given is not None)), "card.html"
        if done or not (audit.folder / page).exists():
            audit.report(audit.folder / page)

    def _do(self, stages: list[Stage]) -> list[Stage]:
        missing = self.audit.missing(stages)
        self.audit.forget(missing)
        for stage in missing:
            self._perform(stage)
            manifest = self.audit.manifest
            begun = manifest.get("begun", {})
            entry = {"file": stage.file, **begun.pop(stage.name, {"seconds": 0.0})}
            self.audit.record(begun=begun, stages={**manifest["stages"], stage.name: entry})
        return missing

    def _perform(self, stage: Stage) -> None:
        audit, reporter = self.audit, self.reporter
        match stage.name:
            case "texts" if self.inputs.source is not None and self.model is not None:
                with costed(audit, stage, self):
                    prepare(audit, self.inputs.source, self.model, reporter)
            case "evidence":
                if self.model is not None:
                    self._parts(stage, evidence_parts(audit, self.model, exact=audit.manifest["contract"]["exact"]))
                elif self.inputs.filed is not None:
                    with costed(audit, stage, self):
                        copy_evidence(audit, self.inputs.filed, reporter)
                write_metrics(audit)
            case "given" if self.inputs.given is not None:
                with costed(audit, stage, self):
                    reporter.start("importance from elsewhere")
                    reporter.finish(write_given(audit, self.inputs.given))
            case "signals":
                with costed(audit, stage, self):
                    write_signals(audit, reporter)
            case "verdict":
                with costed(audit, stage, self):
                    write_verdict(audit, reporter)
            case _:
                self._parts(stage, self._parted(stage))

    def _parted(self, stage: Stage) -> StageParts:
        if stage.name == "correlation":
            return correlation_parts(self.audit, stage)
        if stage.name in self.exact:
            return exact_parts(self.audit, stage)
        if self.model is None:
            return given_parts(self.audit, stage)
        return _BY_MODEL.get(stage.name, battery_parts)(self.audit, stage, self.model)

    def _parts(self, stage: Stage, parted: StageParts) -> None:
        perform_parts(self.audit, stage, parted, self.reporter, self)

    def _count(self, readings: int) -> None:
        self.readings += readings
