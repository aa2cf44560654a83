"""A test of the battery: what performs it, and what it costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.counted import Counted, Progress
from heedful.ragged import Ragged


@dataclass(frozen=True)
class Test:
    """One test: `function(subject, ids, texts, seen, **options)` is a frame, one row an instance."""

    function: Callable[..., pl.DataFrame]
    each: Callable[..., float]  # readings of a text of so many items, with the same options: at most, or about
    costly: bool = False  # many readings: for a seeded sample
    gradient: bool = False  # differentiates the model
    takes: tuple[str, ...] = ("seed",)  # of `seed`, and of `given`: rankings that are known already

    __test__ = False  # none of pytest's

    def readings(self, texts: int, items: float, options: Mapping[str, Any] | None = None, *, given: int = 0) -> float:
        """About how many readings it takes for so many texts of so many items; one with its gradient counts as three.

        `given` is how many rankings are given. Times the seconds of a reading, measured, it is the time that the test
        takes.
        """
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
        """The frame of some texts; `progress` is told of the readings as they are made."""
        known = {"seed": seed, "given": given}
        taken = {name: known[name] for name in self.takes}
        counted = subject if progress is None else Counted(subject, progress)
        return self.function(counted, ids, texts, seen, **taken, **options)
