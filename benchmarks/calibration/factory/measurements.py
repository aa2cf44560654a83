"""What can be measured of a trained model when its deciding words are known: where attention looks, and what the model
still knows when words or paths are cut.

Everything is measured on test texts through the subject that an audit will see. Texts without evidence (of a default
class) count for accuracy and swapping only.

A text's most attended words are the fewest that hold most of its attention, and no more than it has evidence.

What a model still knows after a cut is its contrast: how far the outputs of a text and of its twin (the same text with
its deciding words swapped) are apart, as a share of what they are when nothing is cut. It is 1 if the cut does not
matter and 0 if the two cannot be told apart, whatever the model says of unusual texts.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.calibration.factory.tasks import COURIER, SEPARATOR, Text
from heedful.adapters.changes import Change, assigned
from heedful.adapters.subject import Changes, Padded, Subject
from heedful.adapters.texts import Texts
from heedful.evidence import probabilities
from heedful.ragged import Indices, Ragged
from heedful.randomness import Stream

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Figures = dict[str, float]

SHOWN = 0.9  # of attention is on the most attended words, if so few can hold it: the rest is hardly seen
LEAST = 0.01  # contrast that others are shares of; a model with less has learned nothing


def measured(subject: Subject, texts: Sequence[Text], *, seed: int) -> Figures:
    """All figures of a model; the seed is that of random words."""
    labels = np.array([text.label for text in texts])
    own, twins = (_read(subject, words) for words in ([t.words for t in texts], [t.twin for t in texts]))
    figures = {
        "accuracy": float((own.decisions == labels).mean()),
        "swapped": float((own.decisions != twins.decisions).mean()),
        "aside": float(own.aside.mean()),
    }
    with_evidence = [text for text in texts if any(text.truth)]
    some = _Pairs(subject, with_evidence)
    random = Stream(seed, "factory checks").generator().random(len(some.truth))
    figures |= _looks(some) | _paths(some, some.first(some.own.weights.like(random), some.sizes))
    return {name: round(value, 4) for name, value in figures.items()}


class _Reading(NamedTuple):
    """Texts, and what a model makes of them."""

    words: list[tuple[str, ...]]
    coded: Texts
    weights: Ragged
    output: Floats  # (n, K)
    aside: Floats  # (n,)

    @property
    def decisions(self) -> Indices:
        return np.asarray(self.output.argmax(axis=1))


def _read(subject: Subject, words: Sequence[Sequence[str]]) -> _Reading:
    coded = subject.encode([" ".join(each) for each in words])
    seen = subject.read(coded)
    return _Reading([tuple(each) for each in words], coded, seen.weights, probabilities(seen.logits), seen.aside)


class _Pairs:
    """Texts with evidence and their twins: the same places, other words."""

    def __init__(self, subject: Subject, texts: Sequence[Text]) -> None:
        self.subject, self.texts = subject, texts
        self.own, self.twins = (_read(subject, words) for words in ([t.words for t in texts], [t.twin for t in texts]))
        self.labels = np.array([(text.label, text.twin_label) for text in texts])  # (n, 2)
        self.truth = np.concatenate([text.truth for text in texts])
        self.counter = np.concatenate([text.counter for text in texts])
        self.evidence = self.truth | self.counter
        most = self.own.weights.like(self.evidence).sum()  # (n,)
        self.sizes = np.minimum(most, _holding(self.own.weights, SHOWN))
        self.attended = self.first(self.own.weights, self.sizes)
        self.attended_twins = self.first(self.twins.weights, np.minimum(most, _holding(self.twins.weights, SHOWN)))
        self._whole = self._apart(self.own.output, self.twins.output)

    def first(self, scores: Ragged, sizes: Indices) -> Flags:
        """So many words with the highest scores of each text, (N,)."""
        flags = np.zeros(len(scores.values), dtype=bool)
        for row, start in enumerate(scores.offsets[:-1]):
            flags[start + np.argsort(-scores[row], kind="stable")[: sizes[row]]] = True
        return flags

    def kept(self, own: Flags, twins: Flags) -> tuple[Floats, Floats]:
        """Outputs of both with the flagged words only."""
        return self._output(self.own.coded.keep(own)), self._output(self.twins.coded.keep(twins))

    def elsewhere(self, own: Flags, twins: Flags) -> tuple[Floats, Floats]:
        """Outputs of both with attention spread evenly over the words that are not flagged."""
        return self._even(self.own, own), self._even(self.twins, twins)

    def contrast(self, outputs: tuple[Floats, Floats]) -> float:
        """How far texts and twins are apart, as a share of what they are when nothing is cut."""
        return self._apart(*outputs) / max(self._whole, LEAST)

    def _apart(self, own: Floats, twins: Floats) -> float:
        """Means of what speaks more for the label in the text than in the twin, and for the twin's in the twin."""
        rows = np.arange(len(own))
        gap = own - twins  # (n, K)
        return float((gap[rows, self.labels[:, 0]] - gap[rows, self.labels[:, 1]]).mean() / 2)

    def _even(self, texts: _Reading, gone: Flags) -> Floats:
        left = texts.weights.like((~gone).astype(np.float64))
        even = left.like(left.values / left.sum()[left.row_of_value])
        return self._output(texts.coded, _assigned(even))

    def _output(self, texts: Texts, changes: Changes | None = None) -> Floats:
        return np.asarray(probabilities(self.subject.read(texts, changes).logits))


def _holding(weights: Ragged, share: float) -> Indices:
    """The fewest words of each text that hold such a share of its attention, (n,)."""
    return np.array([1 + np.searchsorted(np.cumsum(np.sort(row)[::-1]), share) for row in weights])


def _assigned(weights: Ragged) -> Changes:
    def changes(batch: Padded) -> Change:
        return assigned(torch.from_numpy(weights.take(batch.rows).pad()[0]))

    return changes


def _looks(some: _Pairs) -> Figures:
    """Where attention is: shares of it, and of the most attended words, above those of even attention."""
    weights, words = some.own.weights, np.concatenate(some.own.words)
    after = np.concatenate([np.append(False, (np.array(text.truth) | text.counter)[:-1]) for text in some.texts])

    def mass(flags: Flags) -> float:
        return float(weights.like(weights.values * flags).sum().mean())

    def above(share: Floats, flags: Flags) -> float:
        even = weights.like(flags).sum() / weights.lengths
        return float((share - even).mean() / (1 - even).mean())

    figures = {}
    for name, flags in (("truth", some.truth), ("evidence", some.evidence)):
        figures[f"{name} mass"] = above(weights.like(weights.values * flags).sum(), flags)
        figures[f"{name} found"] = above(weights.like(some.attended & flags).sum() / some.sizes, flags)
    return figures | {
        "on truth": mass(some.truth),
        "on counter-evidence": mass(some.counter),
        "on courier": mass(words == COURIER),
        "on separators": mass(words == SEPARATOR),
        "on words after": mass(after),
    }


def _paths(some: _Pairs, random: Flags) -> Figures:
    """What is left of contrasts and decisions when words or paths are cut."""

    def stay(output: Floats) -> float:
        return float((output.argmax(axis=1) == some.own.decisions).mean())

    def change(output: Floats) -> float:
        return float(np.abs(output - some.own.output).sum(axis=1).mean() / 2)

    attended, nothing = (some.attended, some.attended_twins), np.zeros(len(some.truth), dtype=bool)
    alone, cut = some.kept(*attended), some.elsewhere(some.evidence, some.evidence)
    even = some.elsewhere(nothing, nothing)
    return {
        "alone": some.contrast(alone),
        "alone kept": stay(alone[0]),
        "random alone": some.contrast(some.kept(random, random)),
        "deleted": some.contrast(some.kept(*(~flags for flags in attended))),
        "attended swapped": 1 - stay(_swapped(some, *attended)),
        "random swapped": 1 - stay(_swapped(some, random, random)),
        "cut": some.contrast(cut),
        "cut kept": stay(cut[0]),
        "cut change": change(cut[0]),
        "attended cut": some.contrast(some.elsewhere(*attended)),
        "even": some.contrast(even),
        "even change": change(even[0]),
    }


def _swapped(some: _Pairs, flags: Flags, twins: Flags) -> Floats:
    """Outputs with the flagged words replaced, in order, by those of another text's twin that is decided otherwise."""
    offsets, donors = some.own.weights.offsets, some.twins.words
    pairs = list(pairwise(offsets))
    chosen, offered = ([np.flatnonzero(each[start:stop]) for start, stop in pairs] for each in (flags, twins))
    texts = [list(each) for each in some.own.words]
    for row, places in enumerate(chosen):
        donor = _donor(some, row)
        for count, place in enumerate(places):
            texts[row][place] = donors[donor][offered[donor][count % len(offered[donor])]]
    return _read(some.subject, texts).output


def _donor(some: _Pairs, row: int) -> int:
    """The next text, in a circle, whose twin is decided otherwise than this one; the next one where there is none."""
    order = (row + 1 + np.arange(len(some.texts))) % len(some.texts)
    others = order[some.twins.decisions[order] != some.own.decisions[row]]
    return int(others[0] if len(others) else order[0])
