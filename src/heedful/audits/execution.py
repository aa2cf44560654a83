"""Perform an audit: check the model, perform the stages that are missing, and write the card."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from heedful.adapters.affine import affine
from heedful.adapters.checking import Contract, check
from heedful.adapters.hardware import named
from heedful.adapters.subject import Subject
from heedful.audits.battery import battery_of
from heedful.audits.battery.test import Counted
from heedful.audits.directory import CARD, Audit
from heedful.audits.evidence_sources import EvidenceSource
from heedful.audits.evidence_stage import copy_evidence, evidence_parts, write_metrics
from heedful.audits.given_importance import GivenImportance, Misfit, write_given
from heedful.audits.plan import PLAUSIBILITY, RATIONALES, TEXTS, exact_tests, plan
from heedful.audits.rationales_stage import write_rationales
from heedful.audits.sampling import Session, perform_highlights, sampled
from heedful.audits.test_stages import (
    battery_parts,
    correlation_parts,
    exact_parts,
    given_parts,
    importance_parts,
    plausibility_parts,
    write_signals,
    write_verdict,
)
from heedful.audits.text_sources import Source
from heedful.audits.texts_stage import Reader, prepare
from heedful.corpora.rationales import Rationales
from heedful.errors import BadConfig, BadInput
from heedful.progress import Reporter
from heedful.ragged import Indices
from heedful.version import __version__
from heedful.workspace.environment import change_of_version, code_fingerprint, versions
from heedful.workspace.environment import threads as torch_threads
from heedful.workspace.folder import Stage, StageCost
from heedful.workspace.parts import StageParts, perform_parts

PROBES = 16  # texts that the model is checked with


@dataclass(frozen=True)
class Inputs:
    """The inputs of an audit: a model and texts, or evidence; optionally importance from elsewhere and rationales."""

    subject: Subject | None = None
    source: Source | None = None
    filed: EvidenceSource | None = None
    given: GivenImportance | None = None
    rationales: Rationales | None = None

    def check(self) -> None:
        """Raise if nothing can be tested."""
        if self.filed is not None and self.given is None and not exact_tests(self.filed.columns):
            raise BadInput(
                f"{self.filed.name}: nothing can be tested on weights and outputs alone; give the columns 'scores' and "
                "'bias' (docs/formats.md), importance from elsewhere (--importance), or the model itself"
            )


def perform(
    audit: Audit, inputs: Inputs, *, threads: int = 0, private: bool = False, reporter: Reporter | None = None
) -> Audit:
    """Perform what is missing of an audit; `threads`: torch threads (0: torch's default); `private`: only its owner can
    read the directory."""
    inputs.check()
    if threads < 0:
        raise BadConfig(f"threads = {threads}: must be 0 (torch's default) or more")
    session = audit.session(partial(_is_worthless, audit), private=private)
    with session, torch_threads(threads) if threads else nullcontext():
        _Session(audit, inputs, reporter or Reporter()).perform()
    return audit


def check_contract(audit: Audit, subject: Subject, reporter: Reporter) -> None:
    """Refuse a model that breaks the contract of subjects. Record what was measured, and whether its logits are affine
    in its attention (`exact`): all parts of the evidence must agree on that."""
    reporter.start("checking the model")
    reader = Reader(audit, subject)
    order = np.argsort(reader.lengths, kind="stable")
    rows = np.unique(order[np.linspace(0, len(order) - 1, num=min(PROBES, len(order))).round().astype(np.int64)])
    _, texts, _ = reader(rows)
    contract = check(subject, texts)
    exact = audit.options.exact and affine(subject, texts)
    hardware = {"device": str(subject.device), "precision": named(subject.precision), "rounding": subject.rounding}
    audit.record(contract=contract._asdict() | {"exact": exact} | hardware)
    identity = f"putting back its own attention moves logits by {contract.identity:.1e}"
    reporter.finish("; ".join([identity, *_shortcuts(contract)]))


def _shortcuts(contract: Contract) -> Iterator[str]:
    """Whether the model is read from kept states on, in words."""
    if contract.replay is None:
        yield "the whole model is read under each change"
    elif contract.replays:
        yield f"replays from the audited layer agree to {contract.replay:.1e}"
    else:
        yield f"replays from the audited layer are off by {contract.replay:.1e}, so the whole model is read each time"
    if contract.resumes:
        yield f"readings from a kept prefix agree to {contract.prefix:.1e}"
    elif contract.prefix is not None:
        yield f"readings from a kept prefix are off by {contract.prefix:.1e}, so whole texts are read"


class _Session:
    """One session of work on an audit."""

    def __init__(self, audit: Audit, inputs: Inputs, reporter: Reporter) -> None:
        self.audit, self.inputs, self.reporter = audit, inputs, reporter
        self.counts = Counter[str](readings=0, replays=0)  # forward passes: whole, and from kept states on
        budget = audit.options.budget
        self.until = None if budget is None else time.monotonic() + budget
        self.exact: tuple[str, ...] = ()  # tests that need no forward pass
        self.said = False  # that another version began the audit
        self.model = None if inputs.subject is None else Counted(inputs.subject, self._count)

    def perform(self) -> None:
        """Perform everything that is missing."""
        audit, inputs = self.audit, self.inputs
        audit.write_options()
        if "heedful" not in audit.manifest:
            audit.record(audit=audit.folder.name, heedful=__version__, code=code_fingerprint(), versions=versions())
        columns: tuple[str, ...] = ()
        battery: tuple[str, ...] = ()
        if inputs.subject is not None:
            self._perform_missing([TEXTS])  # the model is checked with the texts
            if "contract" not in audit.manifest:
                check_contract(audit, inputs.subject, self.reporter)
            contract = audit.manifest["contract"]
            inputs.subject.replays, inputs.subject.resumes = contract["replays"], contract["resumes"]
            battery = battery_of(full=audit.options.full, replayed=inputs.subject.replays)
            columns = ("scores",) if contract["exact"] else ()
            columns += ("truth",) if inputs.source is not None and inputs.source.truth else ()
        elif inputs.filed is not None:
            columns = inputs.filed.columns
        self.exact = exact_tests(columns)
        extras = {"given": inputs.given is not None, "rationales": inputs.rationales is not None}
        stages = plan(columns, battery=battery, **extras)
        performed = self._perform_missing(_up_to(stages, "highlights")) if battery else []
        if battery and not len(self.sample):  # no text could be tested within the budget, by no other test either
            stages = plan(columns, battery=("highlights",), given=False)
        performed += self._perform_missing(stages)
        if performed or not audit.intact(CARD):
            audit.report(audit.folder / CARD)

    def _perform_missing(self, stages: list[Stage]) -> list[Stage]:
        missing = self.audit.missing_stages(stages)
        self.audit.forget_stages(stages, [stage.name for stage in missing])
        change = change_of_version(self.audit.manifest)
        if missing and change and not self.said:
            self.said = True
            self.reporter.start(self.audit.folder.name)
            self.reporter.finish(change)
        for stage in missing:
            with self.audit.performing(stage, counts=lambda: dict(self.counts)) as cost:
                self._perform_stage(stage, cost)
        return missing

    def _perform_stage(self, stage: Stage, cost: StageCost) -> None:
        audit, inputs, reporter = self.audit, self.inputs, self.reporter
        match stage.name:
            case "texts" if inputs.source is not None and self.model is not None:
                prepare(audit, inputs.source, self.model, reporter)
            case "evidence":
                if self.model is not None:
                    exact = audit.manifest["contract"]["exact"]
                    self._perform_parts(stage, evidence_parts(audit, self.model, exact=exact), cost)
                elif inputs.filed is not None:
                    copy_evidence(audit, inputs.filed, reporter)
                write_metrics(audit)
            case "given" if inputs.given is not None:
                reporter.start("importance from elsewhere")
                reporter.finish(write_given(audit, inputs.given))
            case "highlights" if self.model is not None:
                session = Session(self.until, partial(self._on_part, stage, cost))
                perform_highlights(audit, stage, self.model, reporter, session)
            case "rationales" if inputs.rationales is not None:
                reporter.start("rationales")
                reporter.finish(write_rationales(audit, inputs.rationales))
            case "signals":
                write_signals(audit, self.sample, reporter)
            case "verdict":
                write_verdict(audit, reporter)
            case _:
                self._perform_parts(stage, self._test_parts(stage), cost)

    def _test_parts(self, stage: Stage) -> StageParts:
        if stage.name == PLAUSIBILITY:
            return plausibility_parts(self.audit, stage, self.sample)
        if stage.name == "correlation":
            return correlation_parts(self.audit, stage, self.sample)
        if stage.name in self.exact:
            return exact_parts(self.audit, stage)
        if self.model is None:
            return given_parts(self.audit, stage)
        make = importance_parts if stage.name == "importance" else battery_parts
        return make(self.audit, stage, self.model, self.sample)

    @cached_property
    def sample(self) -> Indices:
        """The rows of the sample, known when there is evidence."""
        return sampled(self.audit)

    def _perform_parts(self, stage: Stage, parts: StageParts, cost: StageCost) -> None:
        on_part = partial(self._on_part, stage, cost)
        perform_parts(self.audit.folder / stage.file, parts, self.reporter, on_part=on_part)

    def _on_part(self, stage: Stage, cost: StageCost, instances: int) -> None:
        cost.instances += instances
        self.audit.record_begun(stage, cost)

    def _count(self, readings: int, replay: bool) -> None:
        self.counts["replays" if replay else "readings"] += readings


def _up_to(stages: list[Stage], name: str) -> list[Stage]:
    names = [stage.name for stage in stages]
    return stages[: names.index(name) + 1]


def _is_worthless(audit: Audit, error: Exception) -> bool:
    """Whether a new audit that failed with this error left nothing to resume from: texts are quickly read again."""
    manifest = audit.manifest
    begun = manifest["stages"].keys() - {"texts", RATIONALES} or "evidence" in manifest.get("begun", {})
    return isinstance(error, Misfit) or not begun
