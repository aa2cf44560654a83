"""Generated texts with exact rules: of every text it is known which words decide, and how to make it decide otherwise.

A text is made of fillers, a part of which are decoys (words that say nothing either), one courier (a word that occurs
in every text of every class) and separators that end its sentences. The rule puts cues among them, never two side by
side and never at the end:

| rule | the label |
|---|---|
| `one` | the class of the only cue |
| `several` | the class of the two or three cues, which agree |
| `majority` | the class of most cues; at least two fewer, and at least one, speak for another class |
| `negation` | the class of the only cue; with a negator before it, the other one |
| `default` | class 0, unless there is a cue of another class |

Every text has a twin: the same text with its deciding cues replaced so that the rule gives another label.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from heedful.randomness import Stream

Rule = Literal["one", "several", "majority", "negation", "default"]
RULES: tuple[Rule, ...] = ("one", "several", "majority", "negation", "default")

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SEPARATOR, COURIER, NEGATOR = ".", "the", "not"
SENTENCE = 7  # words of a sentence, its separator included and its cues not counted
DECOYS = 0.25  # of the fillers
VOTES = ((3, 1), (4, 1), (4, 2))  # cues for and against, in a majority
SHORTEST = 6  # words of a text without its cues


@dataclass(frozen=True)
class Task:
    """A rule, and what its texts look like."""

    rule: Rule = "one"
    classes: int = 2
    length: int = 16  # words of a text, on average
    fillers: int = 60  # different ones
    cues: int = 6  # different ones of each class
    noise: float = 0.0  # of the training labels are those of another class
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rule == "negation" and self.classes != 2:
            raise ValueError("a negated cue speaks for the other class, so there must be two")

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, special tokens first; what a word does is in its name."""
        decoys = round(DECOYS * self.fillers)
        numbered = [f"cue{index}-{number}" for index in range(self.classes) for number in range(self.cues)]
        numbered += [f"decoy-{number}" for number in range(decoys)]
        numbered += [f"word-{number}" for number in range(self.fillers - decoys)]
        return (*SPECIAL, SEPARATOR, COURIER, NEGATOR, *numbered)

    @property
    def indifferent(self) -> tuple[float, ...]:
        """What a model that sees no cue should say, as probabilities."""
        if self.rule == "default":
            return tuple(float(index == 0) for index in range(self.classes))
        return (1 / self.classes,) * self.classes


class Text(NamedTuple):
    """A text, what the rule says of it, and its twin."""

    words: tuple[str, ...]
    label: int
    given: int  # the label to train with, which may be wrong
    truth: tuple[bool, ...]  # words that decide: cues of the label, and negators
    counter: tuple[bool, ...]  # cues of another class
    twin: tuple[str, ...]
    twin_label: int


class Unit(NamedTuple):
    """Words that stand together, and those of the twin."""

    words: tuple[str, ...]
    twin: tuple[str, ...]
    truth: bool = False
    counter: bool = False


def written(task: Task, part: str, count: int) -> list[Text]:
    """So many texts of a part (train, test); each depends on the seed, the part and its own number only."""
    stream = Stream(task.seed, f"factory texts, {part}")
    return [_text(task, stream.generator(number)) for number in range(count)]


def label_of(task: Task, words: Sequence[str]) -> int:
    """What the rule says of any text."""
    votes = [0] * task.classes
    for place, word in enumerate(words):
        if word.startswith("cue"):
            negated = task.rule == "negation" and place > 0 and words[place - 1] == NEGATOR
            votes[int(word[3:].partition("-")[0]) ^ negated] += 1
    return votes.index(max(votes))


def _text(task: Task, draw: np.random.Generator) -> Text:
    label, other = (int(each) for each in draw.permutation(task.classes)[:2])
    if task.rule == "default" and label:
        other = 0
    units = _units(task, label, other, draw)
    length = round(task.length * draw.uniform(0.6, 1.4)) - sum(len(unit.words) for unit in units)
    body = _body(task, max(SHORTEST, length), draw)
    gaps = sorted(int(gap) for gap in draw.permutation(len(body))[: len(units)])  # before these words of the body
    parts = [Unit((word,), (word,)) for word in body]
    for count, gap in enumerate(gaps):
        parts.insert(gap + count, units[count])
    wrong = draw.random() < task.noise
    return Text(
        words=tuple(word for part in parts for word in part.words),
        label=label,
        given=(label + int(draw.integers(1, task.classes))) % task.classes if wrong else label,
        truth=tuple(part.truth for part in parts for _ in part.words),
        counter=tuple(part.counter for part in parts for _ in part.words),
        twin=tuple(word for part in parts for word in part.twin),
        twin_label=other,
    )


def _units(task: Task, label: int, other: int, draw: np.random.Generator) -> list[Unit]:
    """What the rule puts among the fillers."""

    def cue(index: int) -> str:
        return f"cue{index}-{draw.integers(task.cues)}"

    match task.rule:
        case "several":
            return [Unit((cue(label),), (cue(other),), truth=True) for _ in range(draw.integers(2, 4))]
        case "majority":
            most, few = VOTES[draw.integers(len(VOTES))]
            units = [Unit((cue(label),), (cue(other),), truth=True) for _ in range(most)]
            against = [cue(other) for _ in range(few)]
            units += [Unit((word,), (word,), counter=True) for word in against]
            return [units[place] for place in draw.permutation(len(units))]
        case "negation" if draw.random() < 0.5:
            return [Unit((NEGATOR, cue(other)), (NEGATOR, cue(label)), truth=True)]
        case "default" if not label:
            return [Unit((_filler(task, draw),), (cue(other),))]
        case "default":
            return [Unit((cue(label),), (_filler(task, draw),), truth=True)]
        case _:
            return [Unit((cue(label),), (cue(other),), truth=True)]


def _body(task: Task, length: int, draw: np.random.Generator) -> list[str]:
    """Fillers, a courier and separators, the last of them at the end."""
    words = [_filler(task, draw) for _ in range(length)]
    words[SENTENCE - 1 :: SENTENCE] = [SEPARATOR] * len(words[SENTENCE - 1 :: SENTENCE])
    words[-1] = SEPARATOR
    free = [place for place, word in enumerate(words) if word != SEPARATOR]
    words[free[draw.integers(len(free))]] = COURIER
    return words


def _filler(task: Task, draw: np.random.Generator) -> str:
    decoys = round(DECOYS * task.fillers)
    number = int(draw.integers(task.fillers))
    return f"decoy-{number}" if number < decoys else f"word-{number - decoys}"
