"""What the rule says of a model: of all its texts, of fewer, at other thresholds, and when it may stop."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.calibration.fitting import Family, Means
from benchmarks.calibration.measuring import Case, spread
from benchmarks.calibration.settings import FIRST, IN_USE, PART, SIZES, STRICTNESS
from heedful.randomness import Stream
from heedful.verdict.criteria import Thresholds
from heedful.verdict.rule import determined, judge, nothing_to_win
from heedful.verdict.verdict import Verdict

EVERY = 100  # models between two lines of progress


class Stop(NamedTuple):
    """Where texts that arrive in parts were enough, and the answer then."""

    answer: str
    texts: int


class TextCount(NamedTuple):
    """How many texts of one sort have an answer of their own."""

    default: bool  # of the class that the rule falls back on
    moot: bool  # decided for a class in which the rule finds nothing to win
    answer: str
    texts: int


class Judged(NamedTuple):
    """All answers for one model, by thresholds that know nothing of its rule and its architecture."""

    name: str
    kind: str
    label: str
    rule: str
    architecture: str
    answer: str  # from all texts
    words: str
    better: bool  # whether another map is called better
    sizes: Mapping[int, str]  # from the first texts
    moved: Mapping[float, str]  # at other strictness
    left_out: str  # at thresholds that know nothing of its kind either
    in_use: str  # at the thresholds of the package
    texts: Sequence[TextCount]
    stops: Sequence[Stop]  # of two orders of all texts
    halves: Sequence[Stop]  # of two halves that share no text


class Job(NamedTuple):
    """A model, and thresholds to judge it by."""

    case: Case
    family: Family  # fixed on models of other rules and architectures
    left_out: Thresholds  # and of other kinds
    in_use: Thresholds  # fixed on all models but those that are judged


def means_all(cases: Sequence[Case], *, workers: int = 1) -> list[Means]:
    """The means of all models; they do not depend on thresholds."""
    return list(spread(means_of, list(cases), workers))


def means_of(case: Case) -> Means:
    """The means of one model."""
    criteria = judge(case.signals, population=case.population).criteria
    return Means(case.kind, case.label, case.rule, case.architecture, {each.name: each.value for each in criteria})


def judge_all(jobs: Sequence[Job], *, workers: int = 1, say: Callable[[str], None] = print) -> list[Judged]:
    """All answers for all models, in the order of their names."""
    found = []
    for each in spread(judged, list(jobs), workers):
        found.append(each)
        if len(found) % EVERY == 0 or len(found) == len(jobs):
            say(f"judged {len(found)} of {len(jobs)}")
    return sorted(found)


def judged(job: Job) -> Judged:
    """All answers for one model."""
    case, family, left_out, in_use = job
    thresholds = family.at(IN_USE)
    verdict = judge(case.signals, population=case.population, thresholds=thresholds)
    everything = np.arange(len(case.signals))
    orders = [Stream(seed, "order of texts").generator(case.name).permutation(everything) for seed in (0, 1)]
    middle = len(everything) // 2
    return Judged(
        case.name,
        case.kind,
        case.label,
        case.rule,
        case.architecture,
        verdict.answer,
        verdict.words,
        verdict.better is not None,
        {size: _answer(case, thresholds, everything[:size]) for size in SIZES},
        {strict: _answer(case, family.at(strict), everything) for strict in STRICTNESS},
        _answer(case, left_out, everything),
        _answer(case, in_use, everything),
        tuple(_texts(case, verdict)),
        tuple(stopped(case, thresholds, order) for order in orders),
        tuple(stopped(case, thresholds, half) for half in (orders[0][:middle], orders[0][middle:])),
    )


def stopped(case: Case, thresholds: Thresholds, order: np.ndarray) -> Stop:
    """Where the rule stops asking for texts that arrive in this order."""
    looks = [*range(FIRST, len(order), PART), len(order)]
    for texts in looks:
        verdict = _verdict(case, thresholds, order[:texts])
        if determined(verdict):
            break
    return Stop(verdict.answer, texts)


def _verdict(case: Case, thresholds: Thresholds, rows: np.ndarray) -> Verdict:
    return judge(case.signals[rows], population=case.population, thresholds=thresholds)


def _answer(case: Case, thresholds: Thresholds, rows: np.ndarray) -> str:
    return _verdict(case, thresholds, rows).answer


def _texts(case: Case, verdict: Verdict) -> Iterator[TextCount]:
    """Own answers of texts, counted."""
    nothing = {each.decision for each in verdict.classes if nothing_to_win(each.criteria)}
    labels = pl.DataFrame({"id": case.signals["id"], "label": case.labels})
    table = verdict.instances.join(labels, on="id")
    rows = zip(table["label"], table["decision"], table["answer"], strict=True)
    counted = Counter(
        (case.rule == "default" and label == 0, decision in nothing, answer) for label, decision, answer in rows
    )
    for (default, without, answer), count in sorted(counted.items()):
        yield TextCount(default, without, answer, count)
