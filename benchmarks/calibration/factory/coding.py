"""Texts of a task as tensors: tokens, labels, and which words are of which sort."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from benchmarks.calibration.factory.tasks import COURIER, SEPARATOR, Task, Text


@dataclass(frozen=True, eq=False)
class Coded:
    """Padded texts: N of them, T words at most. Words only: a network adds the special tokens that it needs."""

    tokens: Tensor  # (N, T) int64, 0 for padding
    real: Tensor  # (N, T)
    label: Tensor  # (N,) by the rule
    given: Tensor  # (N,) to train with
    truth: Tensor  # (N, T): the words that decide
    counter: Tensor  # (N, T): cues of another class
    courier: Tensor  # (N, T)
    separator: Tensor  # (N, T)
    decoy: Tensor  # (N, T)

    @property
    def evidence(self) -> Tensor:
        """Cues for and against, and negators, (N, T): all that the rule looks at."""
        return self.truth | self.counter

    @property
    def after(self) -> Tensor:
        """The words after the evidence, (N, T)."""
        return torch.nn.functional.pad(self.evidence, (1, 0))[:, :-1] & self.real

    def take(self, rows: Tensor) -> "Coded":
        """Some of the texts."""
        return Coded(*(getattr(self, field.name)[rows] for field in fields(self)))


def coded(task: Task, texts: Sequence[Text]) -> Coded:
    """Texts as tensors."""
    places = {word: place for place, word in enumerate(task.words)}
    width = max(len(text.words) for text in texts)

    def padded(rows: Sequence[Sequence[int]]) -> Tensor:
        return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])

    def flagged(word: str) -> Tensor:
        return padded([[each == word for each in text.words] for text in texts]).bool()

    return Coded(
        tokens=padded([[places[word] for word in text.words] for text in texts]),
        real=padded([[1] * len(text.words) for text in texts]).bool(),
        label=torch.tensor([text.label for text in texts]),
        given=torch.tensor([text.given for text in texts]),
        truth=padded([text.truth for text in texts]).bool(),
        counter=padded([text.counter for text in texts]).bool(),
        courier=flagged(COURIER),
        separator=flagged(SEPARATOR),
        decoy=padded([[word.startswith("decoy") for word in text.words] for text in texts]).bool(),
    )
