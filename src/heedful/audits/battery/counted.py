"""A subject whose readings are counted while it is tested: progress, whatever the test does."""

from collections.abc import Callable, Iterator, Sequence

import torch

from heedful.adapters.changes import Change
from heedful.adapters.subject import Embed, Padded, Reading, Subject
from heedful.adapters.texts import Texts

Progress = Callable[[int], None]  # told how many readings more are done

GRADIENT = 3  # readings that one with its gradient takes as long as: the way back is twice the way there


class Counted(Subject):
    """The same subject; after every batch `progress` is told what it was worth in readings."""

    def __init__(self, subject: Subject, progress: Progress) -> None:
        self.subject, self.progress = subject, progress
        self.classes, self.outputs, self.blank = subject.classes, subject.outputs, subject.blank
        self.longest, self.about = subject.longest, subject.about

    def encode(self, texts: Sequence[str]) -> Texts:
        """Texts as the model reads them."""
        return self.subject.encode(texts)

    def forward(
        self, batch: Padded, *, change: Change | None = None, embed: Embed | None = None, attention_fixed: bool = False
    ) -> Reading:
        """Read a batch, and say so."""
        reading = self.subject.forward(batch, change=change, embed=embed, attention_fixed=attention_fixed)
        self.progress(len(batch.rows) * (GRADIENT if torch.is_grad_enabled() else 1))
        return reading

    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        """About how much memory it takes to read one text of so many tokens."""
        return self.subject.bytes_of(tokens, gradient=gradient)

    def batches(self, texts: Texts, *, gradient: bool = False) -> Iterator[Padded]:
        """All texts, as the subject wants them together."""
        return self.subject.batches(texts, gradient=gradient)
