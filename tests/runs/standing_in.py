"""Work that takes the place of a cell's, for engines to do."""

import os
import signal
import time
from pathlib import Path

from heedful.errors import BadInput
from heedful.files import atomic


def note_process(*, file: str) -> None:
    """Leave this process's number in a file."""
    Path(file).write_text(str(os.getpid()))


def sleep(*, seconds: float) -> None:
    time.sleep(seconds)


def note_and_sleep(*, file: str, seconds: float) -> None:
    note_process(file=file)
    time.sleep(seconds)


def note_threads(*, file: str) -> None:
    Path(file).write_text(os.environ["OMP_NUM_THREADS"])


def refuse() -> None:
    raise BadInput("the file is no file: mend it")


def divide() -> None:
    print("what libraries print is no answer")
    raise ZeroDivisionError("by zero")


def fill(*, folder: str) -> None:
    """Write what does not fit on a disk, as runs write."""
    with atomic(Path(folder) / "large"):
        Path("/dev/full").write_text("too much")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(*, file: str) -> None:
    if not Path(file).exists():
        Path(file).touch()
        die()


def clean_up(*, started: str, cleaned: str) -> None:
    """Leave a file behind when asked to stop."""
    try:
        note_process(file=started)
        for _ in range(1000):
            time.sleep(0.05)  # as work does, it comes back to Python again and again
    finally:
        Path(cleaned).touch()
