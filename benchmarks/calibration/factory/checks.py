"""Checks that say what a trained model is, fixed before any verdict was looked at.

Everything is measured on test texts through the subject that an audit will see. Texts without evidence (of a default
class) count for accuracy and swapping only. As many words as a text has evidence are called its most attended words.

| label | asks for |
|---|---|
| any | the rule is learned; with the deciding words swapped, the model decides otherwise |
| faithful | right words, and decided through them |
| right words, not decided through | right words, and attention elsewhere changes nothing |
| wrong words | the most attended words are no better than random ones: not at finding the evidence, not alone, not swapped |

A model between two labels is excluded, with the reason; so is one whose label is not that of its kind.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.calibration.factory.kinds import BYPASSED, FAITHFUL, WRONG, Label
from benchmarks.calibration.factory.plans import Plan
from benchmarks.calibration.factory.tasks import COURIER, SEPARATOR, Text
from heedful.adapters.changes import assigned
from heedful.adapters.subject import Changes, Padded, Subject
from heedful.adapters.texts import Texts
from heedful.evidence import probabilities
from heedful.ragged import Indices, Ragged
from heedful.randomness import Stream

Flags = NDArray[np.bool_]
Figures = dict[str, float]

ACCURATE = 0.95  # of the test texts decided by the rule: a model that has not learned it has no known deciders
FLIPPED = 0.9  # of the decisions change with the deciding words swapped: these words, and nothing else, decide
CLOSE = 0.15  # above chance, or above random words: what a few hundred texts cannot tell from it, and little more
LITTLE = 0.1  # the same for decisions that change
RIGHT_MASS = 0.5  # of attention, above what even attention has, is on the evidence: more than on all the rest
RIGHT_FOUND = 0.8  # of the most attended words, above what random words have, are evidence: few others are shown
WRONG_MASS = 0.15  # the same for wrong words: about as even attention would have it
WRONG_FOUND = 0.2
KEPT = 0.9  # of the decisions stay with the most attended words alone: they suffice
UNMOVED = 0.95  # of the decisions stay whatever is attended
UNFELT = 0.05  # total variation of the output, on average, that attention elsewhere may make
MARKS = {  # what else a model of a kind must have, so that it is unfaithful in the way that its kind is called after
    "courier": ("on courier", 0.8),
    "separators": ("on separators", 0.8),
    "shifted": ("on words after", 0.5),
    "opposing": ("on counter-evidence", 0.5),
}
OBEYED = ("courier", "shifted")  # kinds that decide through the wrong words


class Findings(NamedTuple):
    """What a model is by the checks."""

    figures: Figures
    label: Label | None  # None: between two of them
    reason: str | None  # of its exclusion


def check(plan: Plan, subject: Subject, texts: Sequence[Text]) -> Findings:
    """Measure a model and say what it is."""
    found = measured(plan, subject, texts)
    label, reason = labelled(found)
    return Findings(found, label, reason or _stranger(plan, label, found))


def labelled(found: Figures) -> tuple[Label | None, str | None]:
    """The label of such figures, or why there is none."""
    lost = found["chance"] + CLOSE
    if found["accuracy"] < ACCURATE:
        return None, "the rule is not learned"
    if found["swapped"] < FLIPPED:
        return None, "swapping the deciding words does not change the decision"
    if found["truth mass"] <= WRONG_MASS and found["truth found"] <= WRONG_FOUND:
        if found["alone"] > found["random alone"] + CLOSE:
            return None, "wrong words, but they suffice"
        if found["attended swapped"] > found["random swapped"] + LITTLE:
            return None, "wrong words, but swapping them changes the decision"
        return WRONG, None
    if found["evidence mass"] < RIGHT_MASS or found["evidence found"] < RIGHT_FOUND:
        return None, "attention partly on the evidence"
    if found["alone kept"] < KEPT:
        return None, "right words, but they do not suffice"
    if found["deleted"] > lost:
        return None, "right words, but the rest decides alike"
    if found["cut"] <= lost:
        return FAITHFUL, None
    if found["cut kept"] >= UNMOVED and found["cut change"] <= UNFELT:
        return BYPASSED, None
    return None, "right words, partly decided through"


def _stranger(plan: Plan, label: Label | None, found: Figures) -> str | None:
    """Why a model with a label is not of its kind."""
    if label != plan.kind_of.label:
        return f"came out as {label}"
    name, least = MARKS.get(plan.kind, ("accuracy", 0.0))
    if found[name] < least:
        return f"too little attention {name}"
    if plan.kind in OBEYED and found["attended cut"] > found["chance"] + CLOSE:
        return "decided past the attended words"
    return None


def measured(plan: Plan, subject: Subject, texts: Sequence[Text]) -> Figures:
    """All figures of a model."""
    whole, labels = encoded(subject, [text.words for text in texts]), np.array([text.label for text in texts])
    seen = subject.read(whole)
    decisions = seen.logits.argmax(axis=1)
    twins = subject.read(encoded(subject, [text.twin for text in texts])).logits.argmax(axis=1)
    figures = {
        "accuracy": float((decisions == labels).mean()),
        "swapped": float((decisions != twins).mean()),
        "aside": float(seen.aside.mean()),
    }
    rows = np.array([row for row, text in enumerate(texts) if any(text.truth)])
    some = _Some(subject, [texts[row] for row in rows], whole.take(rows), seen.weights.take(rows), seen.logits[rows])
    figures["chance"] = 0.0 if plan.task.rule == "default" else float(np.bincount(some.labels).max() / len(rows))
    stream = Stream(plan.seed, "factory checks")
    return {name: round(value, 4) for name, value in {**figures, **_looks(some), **_paths(some, stream)}.items()}


def encoded(subject: Subject, texts: Sequence[Sequence[str]]) -> Texts:
    """Texts as the model reads them; each word must be an item."""
    return subject.encode([" ".join(words) for words in texts])


class _Some:
    """Texts with evidence, and what the model makes of them."""

    def __init__(self, subject: Subject, texts: list[Text], coded: Texts, weights: Ragged, logits: NDArray[np.float64]) -> None:
        self.subject, self.texts, self.coded, self.weights = subject, texts, coded, weights
        self.labels = np.array([text.label for text in texts])
        self.output, self.decisions = probabilities(logits), logits.argmax(axis=1)
        self.truth = np.concatenate([text.truth for text in texts])
        self.counter = np.concatenate([text.counter for text in texts])
        self.evidence = self.truth | self.counter
        self.counts = weights.like(self.evidence).sum()  # (n,)
        self.attended = self.first(weights)

    def first(self, scores: Ragged) -> Flags:
        """As many words with the highest scores as there are evidence, (N,)."""
        flags = np.zeros(len(scores.values), dtype=bool)
        for row, start in enumerate(scores.offsets[:-1]):
            flags[start + np.argsort(-scores[row], kind="stable")[: self.counts[row]]] = True
        return flags

    def read(self, texts: Texts, changes: Changes | None = None) -> NDArray[np.float64]:
        """Outputs (n, K) of changed texts, or under other attention."""
        return np.asarray(probabilities(self.subject.read(texts, changes).logits))

    def elsewhere(self, gone: Flags) -> NDArray[np.float64]:
        """Outputs with attention spread evenly over the words that are not flagged."""
        left = self.weights.like((~gone).astype(np.float64))
        even = left.like(left.values / left.sum()[left.row_of_value])
        return self.read(self.coded, _assigned(even))


def _assigned(weights: Ragged) -> Changes:
    def changes(batch: Padded):
        return assigned(torch.from_numpy(weights.take(batch.rows).pad()[0]))

    return changes


def _looks(some: _Some) -> Figures:
    """Where attention is: shares of it, and of the most attended words, above those of even attention."""
    weights, words = some.weights, np.concatenate([text.words for text in some.texts])
    after = np.concatenate([np.append(False, (np.array(text.truth) | text.counter)[:-1]) for text in some.texts])

    def mass(flags: Flags) -> float:
        return float(weights.like(weights.values * flags).sum().mean())

    def above(share: NDArray[np.float64], flags: Flags) -> float:
        even = weights.like(flags).sum() / weights.lengths
        return float((share - even).mean() / (1 - even).mean())

    figures = {}
    for name, flags in (("truth", some.truth), ("evidence", some.evidence)):
        figures[f"{name} mass"] = above(weights.like(weights.values * flags).sum(), flags)
        figures[f"{name} found"] = above(weights.like(some.attended & flags).sum() / some.counts, flags)
    return figures | {
        "on truth": mass(some.truth),
        "on counter-evidence": mass(some.counter),
        "on courier": mass(words == COURIER),
        "on separators": mass(words == SEPARATOR),
        "on words after": mass(after),
    }


def _paths(some: _Some, stream: Stream) -> Figures:
    """What happens to the decisions when words or paths are cut."""
    random = some.first(some.weights.like(stream.generator().random(len(some.weights.values))))

    def right(output: NDArray[np.float64]) -> float:
        return float((output.argmax(axis=1) == some.labels).mean())

    def kept(output: NDArray[np.float64]) -> float:
        return float((output.argmax(axis=1) == some.decisions).mean())

    def change(output: NDArray[np.float64]) -> float:
        return float(np.abs(output - some.output).sum(axis=1).mean() / 2)

    alone = some.read(some.coded.keep(some.attended))
    cut, even = some.elsewhere(some.evidence), some.elsewhere(np.zeros(len(some.truth), dtype=bool))
    return {
        "alone": right(alone),
        "alone kept": kept(alone),
        "random alone": right(some.read(some.coded.keep(random))),
        "deleted": right(some.read(some.coded.keep(~some.attended))),
        "attended swapped": 1 - kept(_swapped(some, some.attended)),
        "random swapped": 1 - kept(_swapped(some, random)),
        "cut": right(cut),
        "cut kept": kept(cut),
        "cut change": change(cut),
        "attended cut": right(some.elsewhere(some.attended)),
        "even kept": kept(even),
        "even change": change(even),
    }


def _swapped(some: _Some, flags: Flags) -> NDArray[np.float64]:
    """Outputs with the flagged words replaced, in order, by the flagged words of another text that is decided
    otherwise."""
    offsets = some.weights.offsets
    chosen = [np.flatnonzero(flags[start:stop]) for start, stop in zip(offsets[:-1], offsets[1:], strict=True)]
    texts = []
    for row, text in enumerate(some.texts):
        donor = _donor(some.decisions, row)
        words = list(text.words)
        for count, place in enumerate(chosen[row]):
            words[place] = some.texts[donor].words[chosen[donor][count % len(chosen[donor])]]
        texts.append(words)
    return some.read(encoded(some.subject, texts))


def _donor(decisions: Indices, row: int) -> int:
    """The next text, in a circle, that is decided otherwise; the next one where there is none."""
    order = (row + 1 + np.arange(len(decisions))) % len(decisions)
    others = order[decisions[order] != decisions[row]]
    return int(others[0] if len(others) else order[0])
