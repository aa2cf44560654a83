"""The criteria of the verdict, in two questions, and their calibrated thresholds (docs/audit-calibration.md).

"Word" stands for whatever the map weighs: tokens, words or sentences. The highlighted words of a text are those that
hold most of its attention.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from heedful.verdict.signals import Level

FILE = Path(__file__).with_name("thresholds.toml")

Part = Literal["words", "weights"]
QUESTIONS: dict[Part, str] = {
    "words": "Are the highlighted words the ones the decision rests on?",
    "weights": "Does the model decide through these weights?",
}


class CriterionSpec(NamedTuple):
    """What a criterion asks. Its values are between 0 and 1, and more is better."""

    name: str  # of its signal
    part: Part
    question: str
    label: str  # what a yes to the question says, in a line
    finding: str  # the result in words, with {value}
    failure: str  # what is wrong with a text or a model that does not meet it
    test: str  # the test that measures it
    levels: tuple[Level, ...] = ("input",)  # where it decides
    optional: bool = False  # not every model or corpus allows it, and a yes does not need it


CRITERIA = (
    CriterionSpec(
        "necessity",
        "words",
        "Does the decision need the highlighted words?",
        "The decision needs the highlighted words",
        "Deleting the highlighted words does {value} of the harm that deleting any as many words can do",
        "deleting the highlighted words hardly matters more than deleting random ones",
        "highlights",
    ),
    CriterionSpec(
        "sufficiency",
        "words",
        "Do the highlighted words suffice for the decision?",
        "The highlighted words suffice for it",
        "The highlighted words alone support the decision {value} as well as the best as many words",
        "the highlighted words alone support the decision no better than random ones",
        "highlights",
    ),
    CriterionSpec(
        "swap",
        "words",
        "Does the decision follow the highlighted words into another text?",
        "It follows them into another text",
        "Swapping the highlighted words for those of a text decided otherwise makes {value} of the change that "
        "swapping the whole text makes",
        "swapping the highlighted words for those of texts decided otherwise hardly changes the decision",
        "highlights",
    ),
    CriterionSpec(
        "truth",
        "words",
        "Is the attention on the words that are known to decide?",
        "Attention is on the words known to decide",
        "{value} of the attention is on the words that are known to decide",
        "the attention is not on the words that are known to decide",
        "highlights",
        optional=True,
    ),
    CriterionSpec(
        "weights",
        "weights",
        "Does taking the attention off the highlighted words do what deleting them does?",
        "The model decides through their weights",
        "Zeroing the attention of the highlighted words has {value} of the effect of deleting them",
        "the model decides alike when it does not attend to the highlighted words",
        "highlights",
    ),
    CriterionSpec(
        "shuffling",
        "weights",
        "Does the output change when the weights are shuffled?",
        "The output changes with shuffled weights",
        "Shuffling the weights moves {value} of the output's probability",
        "shuffling the weights hardly moves the output",
        "permutation",
        levels=("attention",),
    ),
    CriterionSpec(
        "zeroing",
        "weights",
        "Does zeroing attention, largest first, matter as much as in the best order?",
        "The largest weights matter most",
        "Zeroing attention, largest first, has {value} of the effect of the best order",
        "zeroing the largest weights matters no more than zeroing random ones",
        "curves",
        levels=("attention",),
        optional=True,
    ),
)


class Threshold(NamedTuple):
    """A mean of at least `met` meets a criterion; one below `failed` fails it; in between it is neither."""

    failed: float
    met: float


@dataclass(frozen=True)
class Thresholds:
    """Thresholds by criterion, and by how much more a method's words must do to be called better than attention."""

    criteria: Mapping[str, Threshold]
    better: float
    provenance: Mapping[str, Any] = field(default_factory=dict)


def read_thresholds(path: Path = FILE) -> Thresholds:
    """Thresholds from a TOML file."""
    with path.open("rb") as file:
        values = tomllib.load(file)
    criteria = {spec.name: Threshold(**values[spec.name]) for spec in CRITERIA}
    return Thresholds(criteria, values["better"], values.get("provenance", {}))


CALIBRATED = read_thresholds()
