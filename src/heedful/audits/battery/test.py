"""A test of the battery: its function and its cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import torch
from torch import Tensor

from heedful.adapters.changes import Change
from heedful.adapters.subject import Embed, Padded, Prefixes, Reading, Seen, States, Subject
from heedful.adapters.texts import Texts
from heedful.importance.highlights import Donors
from heedful.importance.measure import GRADIENT
from heedful.ragged import Ragged

Progress = Callable[[int, bool], None]  # gets the number of forward passes just done; whether from kept states on


class Counted(Subject):
    """The same subject; after every batch `progress` gets its number of forward passes."""

    def __init__(self, subject: Subject, progress: Progress) -> None:
        self.subject, self.progress = subject, progress
        self.classes, self.outputs, self.blank = subject.classes, subject.outputs, subject.blank
        self.unknown, self.longest, self.about = subject.unknown, subject.longest, subject.about
        self.precision, self.device = subject.precision, subject.device

    def encode(self, texts: Sequence[str]) -> Texts:
        """Texts as the model reads them."""
        return self.subject.encode(texts)

    def forward(
        self, batch: Padded, *, change: Change | None = None, embed: Embed | None = None, attention_fixed: bool = False
    ) -> Reading:
        """Read a batch and report it."""
        reading = self.subject.forward(batch, change=change, embed=embed, attention_fixed=attention_fixed)
        self.progress(_passes(batch), False)
        return reading

    def prepare(self, batch: Padded) -> States | None:
        """Read a batch, keep its states and report it."""
        states = self.subject.prepare(batch)
        if states is not None:
            self.progress(len(batch.rows), False)
        return states

    def replay(self, batch: Padded, states: States, change: Change) -> Reading:
        """Read a batch from its states on and report it."""
        reading = self.subject.replay(batch, states, change)
        self.progress(_passes(batch), True)
        return reading

    def begin(self, batch: Padded) -> Prefixes | None:
        """Read a batch of beginnings and report them as whole forward passes, which they nearly are."""
        prefixes = self.subject.begin(batch)
        if prefixes is not None:
            self.progress(len(batch.rows), False)
        return prefixes

    def resume(self, batch: Padded, prefixes: Prefixes, start: int) -> Tensor:
        """Read a batch from its prefixes on and report it as a replay: it starts from what was kept."""
        logits = self.subject.resume(batch, prefixes, start)
        self.progress(_passes(batch), True)
        return logits

    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        """About how much memory it takes to read one text of so many tokens."""
        return self.subject.bytes_of(tokens, gradient=gradient)

    def batches(self, texts: Texts, *, gradient: bool = False) -> Iterator[Padded]:
        """All texts, as the subject wants them together."""
        return self.subject.batches(texts, gradient=gradient)


def _passes(batch: Padded) -> int:
    return len(batch.rows) * (GRADIENT if torch.is_grad_enabled() else 1)


@dataclass(frozen=True)
class Test:
    """One test: `function(subject, ids, texts, seen, **options)` is a frame, one row an instance."""

    function: Callable[..., pl.DataFrame]
    at_attention: bool = False  # changes attention alone: cheap where the model is replayed
    takes: tuple[str, ...] = ("seed",)  # `seed`, `given` (rankings that are known already), `full`, `donors`

    __test__ = False  # not a test of pytest

    def perform(
        self,
        subject: Subject,
        ids: Sequence[str],
        texts: Texts,
        seen: Seen,
        *,
        seed: int = 0,
        given: Mapping[str, Ragged] | None = None,
        full: bool = True,
        donors: Donors | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> pl.DataFrame:
        """The frame of some texts; `progress` gets the forward passes as they are made. Unless `full`, only what a
        verdict rests on is measured."""
        taken = {"seed": seed, "given": given, "full": full, "donors": donors}
        counted = subject if progress is None else Counted(subject, progress)
        return self.function(
            counted, ids, texts, seen, **{name: taken[name] for name in self.takes if name not in options}, **options
        )
