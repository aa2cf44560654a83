"""One process at a time works on a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heedful.errors import HeedfulError

try:
    import fcntl
except ImportError:  # not on Windows; there two processes in one run directory are the user's own affair
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the run's lock; the system releases it when the process ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HeedfulError(
                    f"{folder}: another process is working on this run; wait for it or stop it"
                ) from None
        yield
