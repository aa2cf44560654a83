"""The command line in forked processes that have imported all they need: what it says, and how it ends.

A process that forks must not have used polars, whose threads do not live on in the fork.
"""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.campaign.watching import Watch

LONGEST = 600.0  # seconds
_POLL = 0.005


class Ended(NamedTuple):
    """How a command ended."""

    code: int  # negative: the signal that ended it
    out: str
    err: str
    seconds: float
    faults: list[tuple[str, str]]  # what it did beyond what it may


class Command:
    """A command of heedful's in a folder of its own, which is its working directory, home and cache too."""

    def __init__(
        self,
        prepare: Callable[[], Sequence[str]],  # the arguments; called in the command's own process, before it begins
        place: Path,
        *,
        cache: Path | None = None,
    ) -> None:
        self.place = place
        for name in ("home", "tmp"):
            (place / name).mkdir(parents=True, exist_ok=True)
        self._started = time.monotonic()
        self._log = place / "faults"
        self._process = os.fork()
        if self._process == 0:
            code = 99
            try:
                code = _perform(prepare(), place, cache or place / "cache", self._log)
            finally:
                sys.stdout.flush()
                os._exit(code)

    def kill_after(self, seconds: float) -> Ended:
        """Kill it after so many seconds, with no clean-up, and all that it has started, unless it has ended."""
        return self._ended(seconds)

    def wait(self) -> Ended:
        """Wait for its end; what takes too long is killed."""
        return self._ended(LONGEST)

    def _ended(self, limit: float) -> Ended:
        while True:
            process, status = os.waitpid(self._process, os.WNOHANG)
            seconds = time.monotonic() - self._started
            if process:
                break
            if seconds > limit:
                os.kill(self._process, signal.SIGKILL)
                _, status = os.waitpid(self._process, 0)
                break
            time.sleep(_POLL)
        out, err = (_text(self.place / name) for name in ("stdout", "stderr"))
        lines = _text(self._log).splitlines()
        pairs = [(kind, what) for kind, _, what in (line.partition("\t") for line in lines)]
        return Ended(os.waitstatus_to_exitcode(status), out, err, seconds, pairs)


def _text(file: Path) -> str:
    """What a command wrote; nothing if it was killed before it could."""
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _perform(arguments: Sequence[str], place: Path, cache: Path, log: Path) -> int:
    from heedful.cli.main import main

    os.environ |= {
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "HEEDFUL_CACHE": str(cache),
        "COLUMNS": "200",
    }
    tempfile.tempdir = str(place / "tmp")
    for name, number in (("stdout", 1), ("stderr", 2)):
        file = os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
    log.unlink(missing_ok=True)
    os.chdir(place)
    Watch([place, cache], log)
    sys.dont_write_bytecode = True
    sys.argv = ["heedful", *arguments]
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    return exit_code(main)


def exit_code(function: Callable[[], object]) -> int:
    """The exit code of a process that does no more than this."""
    import traceback

    try:
        function()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
