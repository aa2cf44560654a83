"""The rule: from signals to a verdict. docs/audit-calibration.md explains it and measures how well it works.

Criteria are assessed for the texts decided for each class, and for all of them together, by tests that stay valid
however often one looks (inference.py).

- A class is `no` if it fails a criterion of the first question (are these the words the decision rests on?), `yes` if
  it meets all criteria of both questions, `with caution` if it is in between or its words are right and the model does
  not decide through their weights. Words that take the decision with them into other texts are not wrong where the
  decision does not need them (others may say the same, or the model may fall back on this class): that is `with
  caution`, too. A class has its answer as soon as it is the same whatever the criteria turn out to be that are still
  open. Until then it is `not determined`, and so is a class in which nothing can be won: no words of such a class (a
  default class, say) matter more than others.
- The model is `no` if a class, or all of them together, is. Otherwise the determined classes answer for it, the worst
  of them, unless they cover clearly less than half of the texts.
- Without the model no words can be deleted: the answer is `no` or `not determined`.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.verdict.criteria import CALIBRATED, CRITERIA, CriterionSpec, Threshold, Thresholds
from heedful.verdict.inference import ALPHA, Floats, above_level, below_level, mean_interval, values_needed
from heedful.verdict.instances import text_answers
from heedful.verdict.signals import GAIN, Level, methods_of
from heedful.verdict.verdict import ANSWERS, Answer, Better, ClassVerdict, Criterion, Outcome, Verdict
from heedful.verdict.wording import class_words, criterion_words, model_words

SCARCE = 0.25  # of a class's texts: if something can be won in clearly fewer, nothing can be told of the class
COVERED = 0.5  # of the texts must belong to classes that are determined
NOT_DELETED = "no words were deleted from the texts to re-run the model"
ALIKE = "every tested text is decided the same way, so no words can be swapped for those of a text decided otherwise"
DISAGREE = "deleting words and masking them lead to different answers, so one of the two misleads"

SIDES: dict[tuple[bool, bool], Outcome] = {  # of a mean that is clearly above `failed`, and clearly below `met`
    (True, True): "between",
    (True, False): "at least between",
    (False, True): "at most between",
    (False, False): "open",
}
POSSIBLE: dict[Outcome, tuple[Outcome, ...]] = {  # what an open outcome may turn out to be
    "at least between": ("met", "between"),
    "at most between": ("between", "not met"),
    "open": ("met", "between", "not met"),
}
OPTIONAL = tuple(spec.name for spec in CRITERIA if spec.optional)

Flags = NDArray[np.bool_]


def judge(
    signals: pl.DataFrame | pl.LazyFrame,
    *,
    classes: Sequence[str] = (),
    population: Mapping[int, int] | None = None,
    thresholds: Thresholds = CALIBRATED,
) -> Verdict:
    """May this attention be shown? The answer for the model that gave these signals, for each class and each text.

    `classes` are their names; `population` says how many texts are decided for each class, tested or not. Answers for
    single texts are derived when they are asked for, from a lazy frame in bounded memory.
    """
    frame = signals.lazy().collect().sort("id")
    level: Level = "input" if "input" in frame["level"].head(1).to_list() else "attention"
    group = _Groups(frame, level, thresholds)
    counts = dict(population or _counts(frame["decision"].drop_nulls()))
    table = text_answers(signals.lazy(), thresholds, level)
    own = _own_answers(table)
    found = [group.judged(decision, counts[decision], classes, own) for decision in sorted(counts)]
    moot = [each.decision for each in found if nothing_to_win(each.criteria)]
    together = group.criteria(~np.isin(group.decisions, moot) if len(moot) < len(found) else group.everything)
    answer = _answer(found, together, counts, level)
    limits = _limits(together, group.masked(), level, alike=group.alike())
    if answer == "yes" and DISAGREE in limits:
        answer = "with caution"
    better = _better(frame, thresholds.better)
    more = _more(found, group) if answer == "not determined" and not {*limits} - {DISAGREE} else None
    words = model_words(answer, together, found, limits=limits, better=better, more=more)
    answers: dict[str, int] = {name: sum(each.answers.get(name, 0) for each in found) for name in ANSWERS}
    return Verdict(answer, words, level, together, tuple(found), limits, better, more, answers, table)


def determined(verdict: Verdict) -> bool:
    """Whether more texts would hardly change the answer: it is no; every class has an answer or can have none; or it is
    with caution, classes with an answer cover half of the texts, and no class that is open looks like a no."""
    if verdict.answer == "no":
        return True
    open_ = [each for each in verdict.classes if each.answer == "not determined" and not nothing_to_win(each.criteria)]
    if verdict.answer == "with caution":
        covered = sum(each.texts for each in verdict.classes if each.answer != "not determined")
        half = COVERED * sum(each.texts for each in verdict.classes)
        return covered >= half and not any(_looks_wrong(each) for each in open_)
    return bool(verdict.classes) and not open_


def _looks_wrong(each: ClassVerdict) -> bool:
    words = [criterion for criterion in each.criteria if criterion.decisive and criterion.part == "words"]
    return any(criterion.value is not None and criterion.value < criterion.failed for criterion in words)


class _Groups:
    """Signals of all texts, and criteria over some of them."""

    def __init__(self, frame: pl.DataFrame, level: Level, thresholds: Thresholds) -> None:
        self.level, self.thresholds = level, thresholds
        self.decisions = frame["decision"].fill_null(-1).to_numpy()
        self.everything = np.ones(len(frame), dtype=bool)
        gain = f"attention{GAIN}"
        tested = frame[gain].is_not_null().to_numpy() if gain in frame.columns else ~self.everything
        self.columns = {spec.name: _column(frame, spec.name) for spec in CRITERIA}
        self.columns |= {name: _column(frame, name) for name in ("masked_necessity", "masked_sufficiency")}
        always = ("shuffling", "truth")  # defined wherever they were tested
        self.tested = {
            name: ~np.isnan(values) if name in always or (level == "input") != (name != "zeroing") else tested
            for name, values in self.columns.items()
        }
        number = len(np.unique(self.decisions)) + 1
        self.alpha = ALPHA / (number * sum(level in spec.levels for spec in CRITERIA))  # of a no

    def criteria(self, rows: Flags) -> tuple[Criterion, ...]:
        """All criteria over some texts."""
        return tuple(self.criterion(spec, spec.name, rows) for spec in CRITERIA)

    def criterion(self, spec: CriterionSpec, column: str, rows: Flags) -> Criterion:
        """One criterion over some texts, by its own signal or by another one."""
        tested = rows & self.tested[column]
        values = self.columns[column][tested]
        winnable = ~np.isnan(values)
        shares, threshold = values[winnable], self.thresholds.criteria[spec.name]
        outcome = self.outcome(shares, winnable, threshold)
        mean = (float(shares.mean()), *mean_interval(shares, alpha=ALPHA / 2)) if len(shares) else None
        value, low, high = mean or (None, None, None)
        return Criterion(
            name=spec.name,
            part=spec.part,
            question=spec.question,
            decisive=self.level in spec.levels and (bool(len(values)) or not spec.optional),
            value=value,
            low=low,
            high=high,
            n=len(values),
            winnable=len(shares),
            failed=threshold.failed,
            threshold=threshold.met,
            outcome=outcome,
            words=criterion_words(spec, outcome, mean, len(values), threshold),
        )

    def masked(self) -> tuple[Criterion, ...]:
        """Necessity and sufficiency with words masked instead of deleted, over all texts."""
        named = {spec.name: spec for spec in CRITERIA}
        return tuple(
            self.criterion(named[name], f"masked_{name}", self.everything) for name in ("necessity", "sufficiency")
        )

    def alike(self) -> bool:
        """Whether every text was decided the same way, as far as words were swapped."""
        swapped = self.columns["swap"][self.tested["swap"]]
        return len(np.unique(self.decisions[self.tested["swap"]])) == 1 and bool(np.isnan(swapped).all())

    def outcome(self, shares: Floats, winnable: Flags, threshold: Threshold) -> Outcome:
        """On which side of its thresholds a criterion clearly is."""
        if not len(winnable):
            return "untested"
        if below_level(winnable.astype(np.float64), SCARCE):
            return "moot"
        if above_level(shares, threshold.met):
            return "met"
        if below_level(shares, threshold.failed, alpha=self.alpha):
            return "not met"
        return SIDES[above_level(shares, threshold.failed), below_level(shares, threshold.met)]

    def judged(self, decision: int, texts: int, names: Sequence[str], own: pl.DataFrame) -> ClassVerdict:
        """The answer for the texts decided for one class."""
        rows = self.decisions == decision
        criteria = self.criteria(rows)
        answer = class_answer(criteria, self.level)
        name = names[decision] if decision < len(names) else str(decision)
        counted = own.filter(pl.col("decision") == decision)
        answers = dict(zip(counted["answer"], counted["len"], strict=True))
        tested = max((criterion.n for criterion in criteria if criterion.decisive), default=0)
        return ClassVerdict(decision, name, answer, class_words(answer, criteria), texts, tested, answers, criteria)


def class_answer(criteria: Sequence[Criterion], level: Level) -> Answer:
    """The answer that follows from the criteria over the texts of a class."""
    deciding = [criterion for criterion in criteria if criterion.decisive]
    words = [each for each in deciding if each.part == "words" and each.outcome != "untested"]
    weights = [each for each in deciding if each.part == "weights" and each.outcome != "untested"]
    if level == "attention":
        return "no" if any(each.outcome == "not met" for each in weights) else "not determined"
    if nothing_to_win(criteria):
        return "not determined"
    tested = [*words, *weights]
    names = [each.name for each in tested]
    completions = product(*(POSSIBLE.get(each.outcome, (each.outcome,)) for each in tested))
    answers = {_definite(dict(zip(names, outcomes, strict=True))) for outcomes in completions}
    return answers.pop() if len(answers) == 1 else "not determined"


def _definite(outcomes: Mapping[str, Outcome]) -> Answer:
    """The answer that follows from the outcomes of criteria once none of them is open."""
    words = {name: outcome for name, outcome in outcomes.items() if name != "weights"}
    failed = {name for name, outcome in words.items() if outcome == "not met"}
    if failed and not (failed == {"necessity"} and words.get("swap") == "met"):
        return "no"
    through = outcomes.get("weights")
    if through is None or words.get("swap") in (None, "moot"):
        return "not determined"
    if failed or "between" in words.values() or through in ("between", "not met"):
        return "with caution"
    return "yes" if through == "met" else "not determined"


def nothing_to_win(criteria: Sequence[Criterion]) -> bool:
    """Whether no words matter more than others: nothing can be won by deleting words or by keeping them."""
    outcomes = {criterion.name: criterion.outcome for criterion in criteria}
    return outcomes["necessity"] == outcomes["sufficiency"] == "moot"


def _answer(
    classes: Sequence[ClassVerdict], together: Sequence[Criterion], counts: Mapping[int, int], level: Level
) -> Answer:
    """The answer for the model."""
    whole = class_answer(together, level)
    if whole == "no" or any(each.answer == "no" for each in classes):
        return "no"
    determined = {each.decision for each in classes if each.answer in ("yes", "with caution")}
    open_ = [each for each in classes if each.answer == "not determined" and not nothing_to_win(each.criteria)]
    if whole == "with caution":  # what holds for all classes together holds for those that are too rare to tell
        determined |= {each.decision for each in open_}
    covered = np.repeat([decision in determined for decision in counts], list(counts.values())).astype(np.float64)
    if not determined or below_level(covered, COVERED):
        return "not determined"
    if whole == "with caution" or any(each.answer == "with caution" for each in classes):
        return "with caution"
    return "yes" if whole == "yes" else "not determined"


def _limits(
    together: Sequence[Criterion], masked: Sequence[Criterion], level: Level, *, alike: bool
) -> tuple[str, ...]:
    """What rules out a yes."""
    if level == "attention":
        return (NOT_DELETED,)
    needed = [each for each in together if each.decisive and each.name not in OPTIONAL]
    if not any(each.n for each in needed):  # within a budget, say
        return (NOT_DELETED,)
    found = [f"not tested: {each.question}" for each in needed if each.outcome == "untested"]
    if alike:
        found.append(ALIKE)
    met = {each.name for each in together if each.outcome == "met"}
    if any(each.outcome == "not met" and each.name in met for each in masked):
        found.append(DISAGREE)
    return tuple(found)


def _better(frame: pl.DataFrame, least: float) -> Better | None:
    """The method whose words do most more than attention's, if they clearly do."""
    own, found = f"attention{GAIN}", []
    for name in methods_of(frame):
        ahead = frame.select((pl.col(f"{name}{GAIN}") - pl.col(own)).drop_nulls().clip(-1, 1)).to_series().to_numpy()
        if len(ahead):
            low, high = (2 * bound - 1 for bound in mean_interval((1 + ahead) / 2, alpha=ALPHA / 2))
            found.append(Better(name, float(ahead.mean()), low, high))
    best = max(found, key=lambda rival: rival.by, default=None)
    return best if best is not None and best.low > 0 and best.by >= least else None


def _more(classes: Sequence[ClassVerdict], group: _Groups) -> int | None:
    """About how many more texts would determine the classes that something can be won in."""
    needed = []
    for each in classes:
        rows = group.decisions == each.decision
        for criterion in each.criteria:
            if criterion.decisive and criterion.outcome in POSSIBLE:
                values = group.columns[criterion.name][rows & group.tested[criterion.name]]
                bar = criterion.failed if criterion.outcome == "at most between" else criterion.threshold
                count = values_needed(values[~np.isnan(values)], bar)
                if count is None:
                    return None
                share = max(criterion.winnable, 1) / max(len(group.decisions), 1)
                needed.append(round(count / share))
    return max(needed, default=None)


def _own_answers(table: pl.LazyFrame) -> pl.DataFrame:
    """How many texts of each decision have each answer of their own."""
    return table.group_by("decision", "answer").len().collect().sort("decision", "answer")


def _counts(decisions: pl.Series) -> dict[int, int]:
    counted = decisions.value_counts(sort=False).sort("decision")
    return dict(zip(counted["decision"].to_list(), counted["count"].to_list(), strict=True))


def _column(frame: pl.DataFrame, name: str) -> Floats:
    return np.asarray(frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)
