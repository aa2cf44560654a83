"""Progress of a run, an audit or a download; silent by default, the command line draws bars."""

import time


def seconds_since(moment: float) -> float:
    """Seconds since a moment of `time.monotonic`; never negative, because a virtual machine may put any clock back."""
    return max(0.0, time.monotonic() - moment)


class Reporter:
    """Receives progress; override the methods whose events you want to show."""

    def start(self, task: str, total: int | None = None) -> None:
        """A task begins; it has `total` steps, if that is known."""

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        """The current task has done `steps` steps; `total` updates their number."""

    def finish(self, summary: str = "") -> None:
        """The current task is done."""

    def notice(self, text: str) -> None:
        """Something that the user should know, whatever the task."""
