"""An audit request: which model, which data, which options; `audit` performs it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from heedful.adapters.hardware import AUTO as ANY_DEVICE
from heedful.adapters.offline import offline
from heedful.adapters.subject import Subject
from heedful.audits.directory import Audit
from heedful.audits.evidence_sources import EvidenceSource, evidence_source
from heedful.audits.execution import Inputs, perform
from heedful.audits.given_importance import GivenImportance, read_given_importance
from heedful.audits.plan import AuditOptions, DataFacts, GivenFacts, ModelFacts, Route
from heedful.audits.rationale_sources import with_rationales
from heedful.audits.run_sources import labelled, run_rationales, run_source, run_subject
from heedful.audits.subjects import checked, facts, from_file
from heedful.audits.text_sources import PREFIX, Source, file_source, hub_source, memory_source
from heedful.errors import BadConfig, unknown_name
from heedful.evidence import Evidence
from heedful.progress import Reporter
from heedful.runs.directory import Run
from heedful.runs.experiment_stages import verdict_sample
from heedful.workspace.sample import AUTO

_MODELS = ("subject", "hf", "module", "run", "evidence")  # exactly one is given
_SKIPPING = ("skip_empty", "skip_unlabelled", "merge_labels")
_HF_DEFAULTS = {"map": "cls", "items": "tokens", "float32": False}
_TEXT_OPTIONS = ("texts", "data", "labels", "ids", "label", "id", "truncate", *_SKIPPING)


@dataclass(frozen=True, kw_only=True)
class Request:
    """All options of an audit."""

    # the model, one of
    subject: Subject | None = None
    hf: str | None = None  # name or folder of a transformers classifier
    module: str | None = None  # FILE.py:NAME, a function that returns a subject
    run: Run | Path | str | None = None  # a finished run: its model and its test texts
    evidence: Evidence | Path | str | None = None  # instead of a model
    # options of `hf`
    map: str = "cls"
    items: str = "tokens"  # or words
    float32: bool = False  # in single precision, whatever the model's own
    # where a model that is loaded (`hf`, `module`) computes: cpu, cuda, mps, or auto; by default a module stays
    device: str | None = None
    # the data: lists, or a table (a file or hf:NAME[:SPLIT]) and its columns
    texts: Sequence[str] | None = None
    labels: Sequence[Any] | None = None
    ids: Sequence[str] | None = None
    data: Path | str | None = None
    text: str = "text"
    label: str | None = None
    id: str | None = None
    truncate: bool = False  # cut texts that exceed the model's maximum length
    skip_empty: bool = False
    skip_unlabelled: bool = False
    merge_labels: bool = False  # take labels that differ from a class's name only in case or spaces for it
    importance: pl.DataFrame | Path | str | None = None  # attributions from elsewhere
    rationales: pl.DataFrame | Sequence[Any] | Path | str | None = None  # words that people marked
    # texts that the tests of the battery read; 0: all; auto: as many as it takes; None: as the run had it, or auto
    sample: int | str | None = None
    budget: float | None = None  # seconds after which no more texts are tested
    seed: int | None = None  # None: that of the run, or 0
    full: bool = False  # the whole battery, not only what a verdict rests on
    exact: bool = True  # recover scores and use exact tests where possible
    download: bool = False  # allow downloading the model or the dataset

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Request":
        """A request from options by name; unknown names are refused."""
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise unknown_name("audit option", name, known)
        return cls(**values)

    def resolved(self) -> tuple[AuditOptions, Inputs]:
        """Load the model and the data; everything is checked before anything is computed."""
        models = [name for name in _MODELS if getattr(self, name) is not None]
        if len(models) != 1:
            raise BadConfig(
                f"{' and '.join(models) if models else 'nothing to audit'} given; give exactly one of: a transformers "
                "classifier (hf), a function that returns a subject (module), a finished run, evidence"
            )
        if self.hf is None:
            for option, default in _HF_DEFAULTS.items():
                if (value := getattr(self, option)) != default:
                    raise BadConfig(f"{option} = {value}: only for a transformers classifier (hf); leave it out")
        if self.device is not None and self.hf is None and self.module is None:
            raise BadConfig(f"device = {self.device}: only for a model that is loaded (hf, module); leave it out")
        importance = None if self.importance is None else read_given_importance(self.importance)
        if self.run is not None:
            return self._of_run(self.run if isinstance(self.run, Run) else Run.open(self.run), importance)
        if self.evidence is not None:
            options, inputs = self._of_evidence(evidence_source(self.evidence), importance)
        else:
            options, inputs = self._of_model(self._source(), importance)  # data first, so that a wrong path fails
        return with_rationales(options, inputs, self.rationales, id=self.id)

    def _of_evidence(self, evidence: EvidenceSource, importance: GivenImportance | None) -> tuple[AuditOptions, Inputs]:
        self._check_no_texts("evidence")
        name = evidence.name
        model = ModelFacts(name=name, classes=evidence.classes, about={"kind": "evidence", "map": "weights"})
        data = DataFacts(name=name, fingerprint=evidence.fingerprint)
        return self._options("evidence", model, data, importance), Inputs(filed=evidence, given=importance)

    def _of_run(self, run: Run, importance: GivenImportance | None) -> tuple[AuditOptions, Inputs]:
        self._check_no_texts("a run")
        subject, source = run_subject(run), run_source(run)
        data = DataFacts(
            name=source.name, fingerprint=source.fingerprint, label="label" if labelled(run) else None, id="id"
        )
        model = facts(subject, source.rows(), run.folder.resolve().name)
        options = self._options("run", model, data, importance, seed=run.config.seed, sample=verdict_sample(run.config))
        inputs = Inputs(subject=subject, source=source, given=importance)
        marked: Any = self.rationales
        if isinstance(marked, Path | str) and run.config.corpus == "table":  # marked in texts as the table has them
            marked = run_rationales(run, marked)
        return with_rationales(options, inputs, marked, id=None)

    def _check_no_texts(self, what: str) -> None:
        for name in _TEXT_OPTIONS:
            if getattr(self, name) not in (None, False):
                raise BadConfig(f"{name} is only for texts that a model reads; {what} has its own; leave it out")

    def _of_model(self, source: Source, importance: GivenImportance | None) -> tuple[AuditOptions, Inputs]:
        route: Route = "subject"
        if self.hf is not None:
            from heedful.adapters.huggingface import HuggingFace

            route, name = "huggingface", self.hf
            subject: Subject = HuggingFace.load(
                self.hf,
                map=self.map,
                items=self.items,
                device=self.device or ANY_DEVICE,
                float32=self.float32,
                download=self.download,
            )
        elif self.module is not None:
            route, name = "module", self.module.rpartition(":")[2]
            subject = from_file(self.module, device=self.device)
        else:
            subject, name = checked(self.subject, "subject"), None
        data = DataFacts(
            name=source.name,
            fingerprint=source.fingerprint,
            text=self.text,
            label=self.label or ("labels" if self.labels is not None else None),
            id=self.id or ("ids" if self.ids is not None else None),
            truncate=self.truncate,
            skip_empty=self.skip_empty,
            skip_unlabelled=self.skip_unlabelled,
            merge_labels=self.merge_labels,
        )
        options = self._options(route, facts(subject, source.rows(), name), data, importance)
        return options, Inputs(subject=subject, source=source, given=importance)

    def _options(
        self,
        route: Route,
        model: ModelFacts,
        data: DataFacts,
        importance: GivenImportance | None,
        *,
        seed: int = 0,
        sample: int | str = AUTO,
    ) -> AuditOptions:
        """Everything together; `seed` and `sample` are those of a request that names none."""
        given = None
        if importance is not None:
            given = GivenFacts(name=importance.name, fingerprint=importance.fingerprint, methods=importance.methods)
        try:
            known: dict[str, Any] = {"route": route, "model": model, "data": data, "importance": given}
            chosen = {name: getattr(self, name) for name in ("budget", "full", "exact")}
            chosen["seed"] = seed if self.seed is None else self.seed
            chosen["sample"] = sample if self.sample is None else self.sample
            return AuditOptions(**known, **chosen)
        except ValidationError as error:
            problem = error.errors()[0]
            raise BadConfig(f"{problem['loc'][0]} = {problem['input']!r}: {problem['msg']}") from error

    def _source(self) -> Source:
        if (self.texts is None) == (self.data is None):
            raise BadConfig("a model is audited on texts: give a table (data) or a list (texts), not both")
        if self.texts is not None:
            return memory_source(self.texts, labels=self.labels, ids=self.ids)
        if self.labels is not None or self.ids is not None:
            raise BadConfig("labels and ids go with texts; for a table, name its columns (label, id)")
        columns: dict[str, Any] = {"text": self.text, "label": self.label, "id": self.id}
        if str(self.data).startswith(PREFIX):
            return hub_source(str(self.data), **columns, download=self.download)
        return file_source(Path(str(self.data)), **columns)


def audit(
    subject: Subject | None = None,
    *,
    out: Path | str = "audits",
    threads: int = 0,
    private: bool = False,
    reporter: Reporter | None = None,
    **values: Any,
) -> Audit:
    """May a model's attention be shown as an explanation? Test it, or resume an interrupted audit.

    The model is a `subject` (`heedful.adapters.huggingface.HuggingFace`, `heedful.adapters.module.Module`, or any other
    Subject), the name or folder of a transformers classifier (`hf`, with `map` and `items`), or FILE.py:NAME, a
    function that returns a subject (`module`); or a finished `run` (a directory, or a Run) is audited with its own test
    texts, seed and sample. A model reads `texts` (optionally with `labels` and `ids`) or a table
    (`data`: a file, or "hf:NAME[:SPLIT]") with the columns `text`, `label` and `id`. Instead of a model, `evidence` is
    a file or an `Evidence`. `importance` from elsewhere (columns `id`, `method`, `values`) is compared with attention.
    `rationales`, the words that people marked, are too, beside the verdict: a file or frame (columns `id` and `spans`
    or `rationale`, perhaps `tokens`), a column of `data`, or a list with one entry per text.

    `truncate` cuts texts that are too long, `skip_empty` and `skip_unlabelled` leave out those without text or label,
    and `merge_labels` takes labels that differ from a class's name only in case or spaces for it. Tests read a
    `sample` of texts drawn by `seed`: so many (0: all), or, by default, as many as it takes ("auto", within `budget`
    seconds). They are those that the verdict rests on and those that are cheap, or the `full` battery. `exact=False`:
    recover no scores from a model whose logits are affine in its attention. `download`: allow downloads; else Hugging
    Face's libraries are offline meanwhile, for a `module` too. A loaded model computes on `device` (cpu, cuda, mps;
    auto, the default of `hf`: the first accelerator), in its own precision unless `float32`. The directory in `out` is
    named after model, data and options, so the same call finds it again.
    `threads`: torch threads (0: torch's default, all cores). `private`: only you can read the directory.
    """
    request = Request.of({"subject": subject, **values})
    with offline(download=request.download):
        options, inputs = request.resolved()
        opened = Audit.at(Path(out) / options.name, options)
        return perform(opened, inputs, threads=threads, private=private, reporter=reporter)
