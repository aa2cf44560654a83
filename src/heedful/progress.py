"""What a run tells while it works; silent by default, the command line draws bars."""


class Reporter:
    """Receives progress; override what should be shown."""

    def start(self, task: str, total: int | None = None) -> None:
        """A task begins, of `total` steps if that is known."""

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        """So many steps of the current task are done by now; `total` tells how many there are, if that is news."""

    def finish(self, summary: str = "") -> None:
        """The current task is done."""
