"""The expected cost of an audit, from a trial: every test is performed on a few texts, and its cost scaled up."""

import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import polars as pl

from heedful.adapters.affine import affine
from heedful.adapters.subject import Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery import BATTERY, battery_of
from heedful.audits.battery.test import Counted
from heedful.audits.directory import Audit
from heedful.audits.execution import Inputs, check_contract
from heedful.audits.overview import Cost
from heedful.audits.plan import AuditOptions, exact_tests, plan
from heedful.audits.test_stages import attributions_in
from heedful.audits.texts_stage import Reader, prepare
from heedful.progress import Reporter
from heedful.ragged import Ragged
from heedful.randomness import Stream
from heedful.workspace.environment import threads as torch_threads
from heedful.workspace.sample import AUTO, TYPICAL

TRIAL = 16  # texts, from the shortest to the longest
WARM = 2  # of them that are tried first: whatever runs for the first time takes longer
_EXACT = 5e-6  # seconds per item of an experiment on evidence, roughly


def estimate(
    options: AuditOptions, inputs: Inputs, reporter: Reporter | None = None, *, threads: int = 0
) -> list[Cost]:
    """The expected cost of all stages that need forward passes; leaves nothing on disk."""
    inputs.check()
    if inputs.subject is None or inputs.source is None:
        return _evidence_costs(inputs)
    reporter = reporter or Reporter()
    with tempfile.TemporaryDirectory() as folder, torch_threads(threads) if threads else nullcontext():
        audit = Audit(Path(folder), options)
        prepare(audit, inputs.source, inputs.subject, reporter)
        check_contract(audit, inputs.subject, reporter)
        return _Trial(audit, inputs.subject).costs(given=() if inputs.given is None else inputs.given.methods)


class _Trial:
    """Tests of an audit on a few of its texts."""

    def __init__(self, audit: Audit, subject: Subject) -> None:
        reader = Reader(audit, subject)
        self.options, self.lengths = audit.options, reader.lengths
        order = np.argsort(self.lengths, kind="stable")
        rows = order[np.linspace(0, len(order) - 1, min(TRIAL, len(order))).round().astype(np.int64)]
        self.ids, self.texts, _ = reader(np.unique(rows))
        self.counts = Counter[str]()
        self.subject = Counted(subject, self._count)
        self.replays = subject.replays

    def costs(self, given: tuple[str, ...]) -> list[Cost]:
        """The expected cost of each stage; `given`: methods of importance from elsewhere."""
        everything, tried = len(self.lengths), len(self.texts)
        wanted = TYPICAL if self.options.sample == AUTO else self.options.sample
        sample = min(int(wanted) or everything, everything)
        exact = exact_tests(("scores",)) if self.options.exact and affine(self.subject, self.texts) else ()
        battery = battery_of(full=self.options.full, replayed=self.replays)
        stages = plan(("scores",) if exact else (), battery=battery, given=bool(given))
        performed = [stage.name for stage in stages if stage.name in BATTERY and stage.name not in exact]
        self._perform(performed, np.arange(min(WARM, tried)), given)
        with self._timed() as reading:
            self.subject.read(self.texts)
        share = float(self.lengths.sum()) / max(1, int(self.texts.tokens.lengths.sum()))
        costs = [Cost("evidence", everything, everything, 0, reading["seconds"] * share)]
        items = float(self.texts.lengths.mean())
        costs += [Cost(name, everything, 0, 0, _EXACT * items * everything) for name in exact]
        for name, cost in self._perform(performed, np.arange(tried), given).items():
            scale = sample / tried
            readings, replays = (round(cost[count] * scale) for count in ("readings", "replays"))
            costs.append(Cost(name, sample, readings, replays, cost["seconds"] * scale))
        return costs

    def _perform(self, names: list[str], rows: np.ndarray, given: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """The measured cost of each test on some of the texts."""
        texts, ids = self.texts.take(rows), [self.ids[row] for row in rows]
        stream = Stream(self.options.seed, "estimate")
        known = {name: texts.names.like(stream.uniform(np.arange(len(texts.names.values)))) for name in given}
        costs = {}
        for name in names:
            with self._timed() as costs[name]:
                frame = self._frame(name, ids, texts, known)
            if name == "importance":
                known |= attributions_in(frame)
        return costs

    def _frame(self, name: str, ids: list[str], texts: Texts, known: dict[str, Ragged]) -> pl.DataFrame:
        test, options = BATTERY[name], self.options
        seen = self.subject.read_and_keep(texts) if test.at_attention else self.subject.read(texts)
        return test.perform(self.subject, ids, texts, seen, seed=options.seed, given=known, full=options.full)

    @contextmanager
    def _timed(self) -> Iterator[dict[str, float]]:
        """Seconds and forward passes of the block, when it has ended."""
        cost: dict[str, float] = {}
        self.counts.clear()
        started = time.perf_counter()
        yield cost
        cost |= {"seconds": max(0.0, time.perf_counter() - started)} | {
            n: self.counts[n] for n in ("readings", "replays")
        }

    def _count(self, readings: int, replay: bool) -> None:
        self.counts["replays" if replay else "readings"] += readings


def _evidence_costs(inputs: Inputs) -> list[Cost]:
    if inputs.filed is None:
        return []
    sizes = [(len(batch), len(batch.weights.values)) for batch in inputs.filed.batches(0)]
    count, items = map(sum, zip(*sizes, strict=True)) if sizes else (0, 0)
    return [Cost(name, count, 0, 0, _EXACT * items) for name in exact_tests(inputs.filed.columns)]
