"""`planted`: reviews from a grammar in which exactly known tokens decide the label.

Each review has verdicts ("the acting was superb") among filler that says nothing about the label. A verdict word may be
negated ("was not dreadful"), which turns it into its opposite; `not` also stands in filler, so that the word alone
tells nothing. Distractors are words that go with the label a little more often than chance. `truth` marks the verdict
words and the negations that belong to them: given these, the label is certain, but for `noise`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from heedful.corpora.corpus import SPLITS, Document
from heedful.corpora.locating import Found
from heedful.corpora.reader import Options, Reader
from heedful.randomness import Stream
from heedful.text.sentences import flatten

_VERDICTS = (
    "dreadful awful terrible boring lousy clumsy tedious shoddy hollow lifeless".split(),
    "decent passable average ordinary moderate middling fair tolerable standard usual".split(),
    "superb wonderful brilliant delightful moving gripping charming masterful radiant splendid".split(),
)
_STOP = "."
_NAMES = ("bad", "middling", "good")
_ASPECTS = "plot acting music dialogue camera script ending pacing cast direction editing lighting".split()
_PEOPLE = "brother sister neighbour colleague teacher friend cousin aunt uncle flatmate".split()
_PLACES = "london paris berlin madrid oslo vienna lisbon dublin prague athens".split()
_TIMES = "monday tuesday friday saturday sunday yesterday tonight".split()
_THINGS = "ticket poster trailer seat review programme screen curtain theatre studio".split()
_PLAIN = "long short early late loud quiet new old full empty".split()
# one distractor lexicon a class: these words lean towards their class by the option `distraction`
_DISTRACTORS = (
    "popcorn rain queue parking".split(),
    "coffee bus corridor umbrella".split(),
    "sunset garden friends dinner".split(),
)


class PlantedOptions(Options):
    """The dials of the grammar."""

    train: int = Field(2000, ge=2)
    dev: int = Field(400, ge=2)
    test: int = Field(500, ge=2)
    classes: int = Field(2, ge=2, le=3)
    verdicts: int = Field(1, ge=1)  # deciding clauses a document; they agree with one another
    length: int = Field(24, ge=8)  # tokens a verdict, on average: a document of 3 verdicts is 3 times as long
    single_sentence: bool = False  # clauses joined by commas instead of each a sentence of its own
    negation: float = Field(0.3, ge=0, le=1)  # how often a verdict is negated
    distraction: float = Field(0.1, ge=0, le=0.5)  # how much more often than chance a distractor agrees with the label
    noise: float = Field(0.0, ge=0, le=0.5)  # how often the label is drawn anew, whatever the text says
    balance: float | None = Field(None, gt=0, lt=1)  # the share of the last class; None: all classes alike
    seed: int = 0


class Planted(Reader):
    """Built-in corpus with known truth; needs no data."""

    name = "planted"
    task = "verdict of a made-up film review, deciding tokens known"
    sizes = "any; 2,000 / 400 / 500 unless set"
    how_to_get = "it is built in"
    built_in = True
    options = PlantedOptions

    def classes(self, options: PlantedOptions) -> tuple[str, ...]:
        return tuple(_NAMES[index] for index in _grades(options))

    def tokenise(self, text: str, options: Any) -> list[str]:
        return text.lower().replace(".", " . ").replace(",", " , ").split()

    def has_sentences(self, options: Any) -> bool:
        return True

    def sentences(self, text: str, options: Any) -> list[list[str]]:
        return _sentences(self.tokenise(text, options))

    def documents(self, found: Found, options: PlantedOptions) -> Iterator[Document]:
        """Each document from its own stream: a larger corpus begins with the smaller one."""
        stream = Stream(options.seed, "planted")
        shares = _shares(options)
        for split in SPLITS:
            count = getattr(options, split)
            for index in range(count):
                # the label's rank is a low-discrepancy sequence: classes keep their shares in any prefix
                grade = int(np.searchsorted(np.cumsum(shares), _spread(index), side="right"))
                tokens, truth = _document(stream.generator(split, index), grade, options)
                draw = stream.generator(split, index, "noise")
                if draw.random() < options.noise:
                    grade = int(draw.choice(len(shares), p=shares))
                name = _NAMES[_grades(options)[grade]]
                _, lengths = flatten(_sentences(tokens))
                yield Document(f"{split}-{index:05d}", tokens, name, split, truth, sentences=lengths)


def _grades(options: PlantedOptions) -> tuple[int, ...]:
    return (0, 2) if options.classes == 2 else (0, 1, 2)


def _shares(options: PlantedOptions) -> np.ndarray[Any, np.dtype[np.float64]]:
    others = options.classes - 1
    last = 1 / options.classes if options.balance is None else options.balance
    return np.array([(1 - last) / others] * others + [last])


def _spread(index: int) -> float:
    """Van der Corput's sequence in base 2: any run of indices is spread evenly over [0, 1)."""
    value, step = 0.0, 0.5
    while index:
        value += step * (index & 1)
        index >>= 1
        step /= 2
    return value


def _document(draw: np.random.Generator, grade: int, options: PlantedOptions) -> tuple[list[str], list[bool]]:
    """The tokens of a review, and which of them decide."""
    tokens: list[str] = []
    truth: list[bool] = []
    target = options.length * options.verdicts * draw.uniform(0.6, 1.4)
    fillers = max(0, round((target - 6 * options.verdicts) / 7))  # a verdict has about 6 tokens, a filler 7
    plan = draw.permutation([True] * options.verdicts + [False] * fillers)
    for position, is_verdict in enumerate(plan, start=1):
        words, deciding = _verdict(draw, grade, options) if is_verdict else (_filler(draw, grade, options).split(), 0)
        tokens += [*words, "," if options.single_sentence and position < len(plan) else _STOP]
        truth += [False] * (len(words) - deciding) + [True] * deciding + [False]
    return tokens, truth


def _sentences(tokens: Sequence[str]) -> list[list[str]]:
    sentences: list[list[str]] = [[]]
    for token in tokens:
        sentences[-1].append(token)
        if token == _STOP:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def _verdict(draw: np.random.Generator, grade: int, options: PlantedOptions) -> tuple[list[str], int]:
    """A deciding clause, and how many words at its end decide: the verdict and its negation."""
    grades = _grades(options)
    opposite = len(grades) - 1 - grade  # what a negated word means
    negated = draw.random() < options.negation and opposite != grade  # the middle grade has no opposite
    aspect, words = draw.choice(_ASPECTS), _VERDICTS[grades[opposite if negated else grade]]
    return f"the {aspect} was {'not ' * negated}{draw.choice(words)}".split(), 1 + negated


def _filler(draw: np.random.Generator, grade: int, options: PlantedOptions) -> str:
    kind = draw.integers(5)
    if kind == 0:
        return f"my {draw.choice(_PEOPLE)} saw it in {draw.choice(_PLACES)}"
    if kind == 1:
        return f"the {draw.choice(_THINGS)} was {'not ' if draw.random() < 0.5 else ''}{draw.choice(_PLAIN)}"
    if kind == 2:
        return f"we went on {draw.choice(_TIMES)} with my {draw.choice(_PEOPLE)}"
    if kind == 3:
        return f"they talked about the {draw.choice(_ASPECTS)} and the {draw.choice(_THINGS)}"
    return f"there was {draw.choice(_distractor(draw, grade, options))} near the {draw.choice(_THINGS)}"


def _distractor(draw: np.random.Generator, grade: int, options: PlantedOptions) -> list[str]:
    grades = _grades(options)
    chance = 1 / len(grades)
    if draw.random() < options.distraction / (1 - chance):  # so that agreement is chance + distraction
        return _DISTRACTORS[grades[grade]]
    return _DISTRACTORS[grades[draw.integers(len(grades))]]
