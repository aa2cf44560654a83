"""Many cases one after another in a forked worker, which is replaced when it crashes or hangs: that costs one case."""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from benchmarks.campaign.tally import Tally
from benchmarks.campaign.watching import Watch

LONGEST = 600  # seconds for a case


class Fault(NamedTuple):
    """What went wrong with one case."""

    kind: str
    why: str


class Worker(ABC):
    """Performs cases in a folder of its own; its standard output and error are files there."""

    def __init__(self, place: Path, *, allowed: Sequence[Path] = ()) -> None:
        self.place = place
        for name in ("home", "tmp", "failing"):
            (place / name).mkdir()
        os.environ |= {"HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), "COLUMNS": "200"}
        tempfile.tempdir = str(place / "tmp")  # it may be known already
        os.chdir(place / "tmp")
        sys.dont_write_bytecode = True
        self._watch = Watch(allowed=[place, *allowed])
        self._files = [os.open(place / name, os.O_RDWR | os.O_CREAT | os.O_APPEND) for name in ("stdout", "stderr")]
        os.dup2(self._files[0], 1)
        os.dup2(self._files[1], 2)
        sys.stdout, sys.stderr = (_stream(number) for number in (1, 2))
        self._log = (place / "log").open("a", encoding="utf-8", buffering=1)

    def work(self, numbers: range, until: float) -> None:
        """Perform the cases of these numbers."""
        for number in numbers:
            if time.monotonic() > until:
                return
            signal.alarm(LONGEST)
            self.perform(number)
            signal.alarm(0)

    @abstractmethod
    def perform(self, number: int) -> None:
        """Perform a case: `begin` it, and `tell` what went wrong."""

    def begin(self, number: int, part: str) -> None:
        """Log a case before it can crash."""
        self._log.write(json.dumps({"begun": number, "part": part}) + "\n")

    def tell(self, name: str, faults: Sequence[Fault], files: Path) -> None:
        """Log the faults of a case."""
        for fault in faults:
            facts = {"fault": fault.kind, "case": name, "why": fault.why, "files": str(files)}
            self._log.write(json.dumps(facts) + "\n")

    def said(self) -> tuple[str, str]:
        """What was written to standard output and error since the last call."""
        sys.stdout.flush()
        sys.stderr.flush()
        return self._taken(self._files[0]), self._taken(self._files[1])

    def trespasses(self) -> list[Fault]:
        """What was done beyond what is allowed since the last call."""
        return [Fault(*found) for found in self._watch.take()]

    @staticmethod
    def _taken(file: int) -> str:
        size = os.fstat(file).st_size
        if not size:
            return ""
        text = os.pread(file, min(size, 100_000), 0).decode(errors="replace")
        os.ftruncate(file, 0)
        return text


def _stream(number: int) -> TextIO:
    """As Python itself opens standard output and error."""
    return open(number, "w", encoding="utf-8", errors="backslashreplace" if number == 2 else "strict", closefd=False)


def in_workers(
    make: Callable[[Path], Worker], place: Path, tally: Tally, tried: str, *, block: int, cases: int, until: float
) -> None:
    """So many cases in workers that `make` makes, a block each, or as many as there is time for (`until`, by the
    monotonic clock)."""
    first = 0
    while first < cases and time.monotonic() < until:
        numbers = range(first, min(cases, first + block))
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        process = os.fork()
        if process == 0:
            code = 1
            try:
                make(place).work(numbers, until)
                code = 0
            except BaseException:  # of the campaign itself
                (place / "stderr").write_text(traceback.format_exc())
            finally:
                os._exit(code)
        first = _settle(place, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), tally, tried, first)


def _settle(place: Path, status: int, tally: Tally, tried: str, first: int) -> int:
    """Count what a worker has logged; returns the first case that it did not begin."""
    begun: dict[str, Any] = {"begun": first - 1, "part": "none"}
    for record in map(json.loads, (place / "log").read_text(encoding="utf-8").splitlines()):
        if "begun" in record:
            begun = record
            tally.count(tried, record["part"])
        else:
            tally.fail(record["fault"], record["case"], record["why"], Path(record["files"]))
    if status:
        errors = (place / "stderr").read_text(encoding="utf-8", errors="replace")[-4000:]
        fault = "hangs" if status == -signal.SIGALRM else "crashes"
        tally.fail(fault, case_name(begun["part"], begun["begun"]), f"exit code {status}\n{errors}", place / "failing")
    return int(begun["begun"]) + 1


def case_name(part: str, number: int) -> str:
    """The name of a case, which its folder has."""
    return f"{part.replace(' ', '-')}-{number}"
