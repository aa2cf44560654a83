"""A test of the battery: its function and its cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import torch

from heedful.adapters.changes import Change
from heedful.adapters.subject import Embed, Padded, Reading, Seen, Subject
from heedful.adapters.texts import Texts
from heedful.importance.measure import GRADIENT
from heedful.ragged import Ragged

Progress = Callable[[int], None]  # called with the number of forward passes just done


class Counted(Subject):
    """The same subject; after every batch `progress` gets its number of forward passes."""

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
        """Read a batch and report it."""
        reading = self.subject.forward(batch, change=change, embed=embed, attention_fixed=attention_fixed)
        self.progress(len(batch.rows) * (GRADIENT if torch.is_grad_enabled() else 1))
        return reading

    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        """About how much memory it takes to read one text of so many tokens."""
        return self.subject.bytes_of(tokens, gradient=gradient)

    def batches(self, texts: Texts, *, gradient: bool = False) -> Iterator[Padded]:
        """All texts, as the subject wants them together."""
        return self.subject.batches(texts, gradient=gradient)


@dataclass(frozen=True)
class Test:
    """One test: `function(subject, ids, texts, seen, **options)` is a frame, one row an instance."""

    function: Callable[..., pl.DataFrame]
    each: Callable[..., float]  # forward passes per text of so many items, with the same options: at most, or about
    costly: bool = False  # many forward passes: run on a seeded sample
    gradient: bool = False  # differentiates the model
    takes: tuple[str, ...] = ("seed",)  # `seed`, `given` (rankings that are known already)

    __test__ = False  # not a test of pytest

    def readings(self, texts: int, items: float, options: Mapping[str, Any] | None = None, *, given: int = 0) -> float:
        """About how many forward passes (one with its gradient counts as three); `given`: number of given rankings."""
        more = {"given": given} if "given" in self.takes else {}
        return texts * self.each(items, **more, **(options or {}))

    def perform(
        self,
        subject: Subject,
        ids: Sequence[str],
        texts: Texts,
        seen: Seen,
        *,
        seed: int = 0,
        given: Mapping[str, Ragged] | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> pl.DataFrame:
        """The frame of some texts; `progress` gets the forward passes as they are made."""
        taken = {name: value for name, value in {"seed": seed, "given": given}.items() if name in self.takes}
        counted = subject if progress is None else Counted(subject, progress)
        return self.function(counted, ids, texts, seen, **taken, **options)
