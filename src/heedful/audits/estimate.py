"""The expected cost of an audit: forward passes of each test, and seconds from a trial on a few texts."""

import tempfile
import time
from inspect import signature
from pathlib import Path
from typing import Any

from heedful.adapters.affine import affine
from heedful.adapters.subject import Subject
from heedful.audits.battery import BATTERY, Test
from heedful.audits.battery.subject_texts import ways_of
from heedful.audits.directory import Audit
from heedful.audits.execution import Inputs
from heedful.audits.overview import Cost
from heedful.audits.plan import AuditOptions, exact_tests, plan
from heedful.audits.texts_stage import Reader, prepare
from heedful.importance import ATTRIBUTIONS, MEASURES
from heedful.progress import Reporter
from heedful.randomness import sample

TRIAL = 16  # texts
_EXACT = 5e-6  # seconds per item of an experiment on evidence, roughly


def estimate(options: AuditOptions, inputs: Inputs, reporter: Reporter | None = None) -> list[Cost]:
    """The expected cost of all stages that need forward passes; leaves nothing on disk."""
    inputs.check()
    if inputs.subject is None or inputs.source is None:
        return _evidence_costs(inputs)
    with tempfile.TemporaryDirectory() as folder:
        audit = Audit(Path(folder), options)
        prepare(audit, inputs.source, inputs.subject, reporter or Reporter())
        return _model_costs(audit, inputs.subject, given=len(inputs.given.methods) if inputs.given else 0)


def _model_costs(audit: Audit, subject: Subject, *, given: int) -> list[Cost]:
    reader = Reader(audit, subject)
    lengths = reader.lengths
    rows = sample(map(str, range(len(lengths))), TRIAL, audit.options.seed)
    _, texts, _ = reader(rows)
    subject.read(texts)  # warm-up
    started = time.perf_counter()
    subject.read(texts)
    token = (time.perf_counter() - started) / max(1, int(texts.tokens.lengths.sum()))
    seconds = token * float(lengths.mean())  # per reading
    items = float(texts.lengths.mean())
    exact = exact_tests(("scores",)) if audit.options.exact and affine(subject, texts) else ()
    size = audit.options.sample
    costs = [Cost("evidence", len(lengths), len(lengths), seconds * len(lengths))]
    for stage in plan(("scores",) if exact else (), battery=BATTERY, given=bool(given)):
        if stage.name in exact:
            costs.append(Cost(stage.name, len(lengths), 0, _EXACT * items * len(lengths)))
        elif stage.name == "attributions":
            count = min(size or len(lengths), len(lengths))
            readings = round(count * (1 + sum(MEASURES[name].readings(items) for name in ATTRIBUTIONS)))
            costs.append(Cost(stage.name, count, readings, readings * seconds))
        elif stage.name in BATTERY:
            test = BATTERY[stage.name]
            count = min(size or len(lengths), len(lengths)) if test.costly else len(lengths)
            known = given + len(ATTRIBUTIONS)  # attributions are computed once, before
            readings = round(test.readings(count, items, _options(test, subject), given=known)) + count
            costs.append(Cost(stage.name, count, readings, readings * seconds))
    return costs


def _options(test: Test, subject: Subject) -> dict[str, Any]:
    """Options of a test for this model: the rankings it computes itself, and how items can be erased."""
    parameters = signature(test.each).parameters
    options: dict[str, Any] = {"ways": ways_of(subject)} if "ways" in parameters else {}
    if "rankings" in parameters:
        options["rankings"] = [name for name in parameters["rankings"].default if name not in ATTRIBUTIONS]
    return options


def _evidence_costs(inputs: Inputs) -> list[Cost]:
    if inputs.filed is None:
        return []
    sizes = [(len(batch), len(batch.weights.values)) for batch in inputs.filed.batches(0)]
    count, items = map(sum, zip(*sizes, strict=True)) if sizes else (0, 0)
    return [Cost(name, count, 0, _EXACT * items) for name in exact_tests(inputs.filed.columns)]
