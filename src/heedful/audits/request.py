"""What a user asks for: which model, which data, and how; and the audit that this is."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from heedful.adapters.subject import Subject
from heedful.audits.directory import Audit
from heedful.audits.evidence_sources import EvidenceSource, evidence_source
from heedful.audits.execution import Inputs, perform
from heedful.audits.given_importance import GivenImportance, read_given_importance
from heedful.audits.plan import AuditOptions, DataFacts, GivenFacts, ModelFacts, Route
from heedful.audits.subjects import checked, facts, from_file, from_hub
from heedful.audits.text_sources import PREFIX, Source, file_source, given_source, hub_source
from heedful.errors import BadConfig, unknown_name
from heedful.evidence import Evidence
from heedful.progress import Reporter

_WAYS = ("subject", "hf", "module", "evidence")
_OF_HF = {"map": "cls", "items": "tokens"}
_OF_TEXTS = ("texts", "data", "labels", "ids", "label", "id", "truncate", "skip_empty")


@dataclass(frozen=True, kw_only=True)
class Request:
    """All that can be asked for."""

    subject: Subject | None = None  # the model: a subject at hand,
    hf: str | None = None  # a transformers classifier by its name or folder,
    module: str | None = None  # FILE.py:NAME, a function that returns a subject,
    evidence: Evidence | Path | str | None = None  # or none, but what it said
    map: str = "cls"  # of a transformers classifier: which map,
    items: str = "tokens"  # and of what: tokens or words
    texts: Sequence[str] | None = None  # the data: at hand,
    labels: Sequence[Any] | None = None
    ids: Sequence[str] | None = None
    data: Path | str | None = None  # or a table, a file or hf:NAME[:SPLIT],
    text: str = "text"  # and its columns
    label: str | None = None
    id: str | None = None
    truncate: bool = False  # texts longer than the model reads are cut at the end
    skip_empty: bool = False  # texts with nothing in them are left out
    importance: pl.DataFrame | Path | str | None = None  # measured elsewhere, to be raced
    sample: int = 200  # texts of the tests that read each of them many times; 0: all
    seed: int = 0
    exact: bool = True  # whether scores are recovered, and exact tests performed, where that is possible
    download: bool = False  # whether a model or a dataset may be fetched

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Request":
        """A request by its fields' names, checked."""
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise unknown_name("option of an audit", name, known)
        return cls(**values)

    def resolved(self) -> tuple[AuditOptions, Inputs]:
        """Load what is named; complete, before anything is computed."""
        ways = [name for name in _WAYS if getattr(self, name) is not None]
        if len(ways) != 1:
            raise BadConfig(
                f"{' and '.join(ways) if ways else 'nothing to audit'} given: an audit is of one thing, a transformers "
                "classifier (hf), a function that returns a subject (module), or evidence"
            )
        if self.hf is None:
            for option, usual in _OF_HF.items():
                if (value := getattr(self, option)) != usual:
                    raise BadConfig(
                        f"{option} = {value}: this is chosen of a transformers classifier (hf) only, and would change "
                        "nothing here; leave it out"
                    )
        importance = None if self.importance is None else read_given_importance(self.importance)
        if self.evidence is not None:
            return self._of_evidence(evidence_source(self.evidence), importance)
        source = self._source()  # before the model: a wrong path is told at once
        return self._of_model(source, importance)

    def _of_evidence(self, evidence: EvidenceSource, importance: GivenImportance | None) -> tuple[AuditOptions, Inputs]:
        for name in _OF_TEXTS:
            if getattr(self, name) not in (None, False):
                raise BadConfig(f"{name} is of texts that a model reads, and evidence has its own; leave it out")
        name = evidence.name
        model = ModelFacts(name=name, classes=evidence.classes, about={"kind": "evidence", "map": "weights"})
        data = DataFacts(name=name, fingerprint=evidence.fingerprint)
        return self._options("evidence", model, data, importance), Inputs(filed=evidence, given=importance)

    def _of_model(self, source: Source, importance: GivenImportance | None) -> tuple[AuditOptions, Inputs]:
        route: Route = "subject"
        if self.hf is not None:
            route, name = "huggingface", self.hf
            subject = from_hub(self.hf, map=self.map, items=self.items, download=self.download)
        elif self.module is not None:
            route, name = "module", self.module.rpartition(":")[2]
            subject = from_file(self.module)
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
        )
        options = self._options(route, facts(subject, source.rows(), name), data, importance)
        return options, Inputs(subject=subject, source=source, given=importance)

    def _options(
        self, route: Route, model: ModelFacts, data: DataFacts, importance: GivenImportance | None
    ) -> AuditOptions:
        if importance is not None:
            told = GivenFacts(name=importance.name, fingerprint=importance.fingerprint, methods=importance.methods)
        try:
            return AuditOptions(
                route=route,
                model=model,
                data=data,
                importance=None if importance is None else told,
                sample=self.sample,
                seed=self.seed,
                exact=self.exact,
            )
        except ValidationError as error:
            problem = error.errors()[0]
            raise BadConfig(f"{problem['loc'][-1]} = {problem['input']!r}: {problem['msg']}") from error

    def _source(self) -> Source:
        if (self.texts is None) == (self.data is None):
            raise BadConfig("a model is audited on texts: give a table (data), or a list (texts), and not both")
        if self.texts is not None:
            return given_source(self.texts, labels=self.labels, ids=self.ids)
        if self.labels is not None or self.ids is not None:
            raise BadConfig("labels and ids go with texts; of a table, name the columns (label, id)")
        columns: dict[str, Any] = {"text": self.text, "label": self.label, "id": self.id}
        if str(self.data).startswith(PREFIX):
            return hub_source(str(self.data), **columns, download=self.download)
        return file_source(Path(str(self.data)), **columns)


def audit(
    subject: Subject | None = None,
    *,
    out: Path | str = "audits",
    threads: int = 0,
    reporter: Reporter | None = None,
    **values: Any,
) -> Audit:
    """May a model's attention be shown as an explanation? Put it to the tests, or go on where that was interrupted.

    The model is a `subject` (`heedful.adapters.huggingface.HuggingFace`, `heedful.adapters.module.Module`, or any other
    Subject), the name or folder of a transformers classifier (`hf`, with `map` and `items`), or FILE.py:NAME, a
    function that returns a subject (`module`). It reads `texts` (with `labels` and `ids`, if there are any) or a table
    (`data`: a file, or "hf:NAME[:SPLIT]") by its columns `text`, `label` and `id`. Without a model, `evidence` is a
    file or an `Evidence`. `importance` from elsewhere (columns `id`, `method`, `values`) takes part in the race.

    `truncate` cuts texts that are too long, `skip_empty` leaves empty ones out; tests that read a text many times are
    performed on a `sample` (200; 0: all) drawn by `seed`; nothing is fetched unless `download` is true; with
    `exact=False` no scores are recovered from a model whose logits are affine in its attention. The directory
    in `out` is named by model, data and options: the same ones are the same directory. So many `threads` of arithmetic
    (0: as torch has it).
    """
    options, inputs = Request.of({"subject": subject, **values}).resolved()
    return perform(Audit.at(Path(out) / options.name, options), inputs, threads=threads, reporter=reporter)
