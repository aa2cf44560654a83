"""Hostile inputs read in process, by workers that are forked: many a second, and a crash costs one case."""

import json
import os
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.campaign.mutations import hostile
from benchmarks.campaign.tally import Tally
from benchmarks.campaign.targets import Target
from benchmarks.campaign.watching import Watch
from heedful.errors import HeedfulError

LONGEST = 60  # seconds for a case
_BLOCK = 4000  # cases of a worker


def prepare(targets: Sequence[Target], seeds: Path) -> None:
    """Good inputs, a folder a target; in a process of its own, since forks do not survive the threads of polars."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            for target in targets:
                (seeds / target.name).mkdir(parents=True)
                target.prepare(seeds / target.name)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    if os.waitpid(process, 0)[1]:
        raise RuntimeError("good inputs could not be prepared")


def fuzz(
    targets: Sequence[Target], seeds: Path, place: Path, tally: Tally, *, seed: int, cases: int, until: float
) -> None:
    """Read so many hostile inputs, or as many as there is time for (`until`, by the monotonic clock)."""
    first = 0
    while first < cases and time.monotonic() < until:
        numbers = range(first, min(cases, first + _BLOCK))
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        process = os.fork()
        if process == 0:
            try:
                _Worker(targets, seeds, place, seed).work(numbers, until)
            finally:
                os._exit(0)
        first = _settle(place, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), tally, first)


def _settle(place: Path, status: int, tally: Tally, first: int) -> int:
    """Count what a worker has logged; returns the first case that it did not begin."""
    begun: dict[str, Any] = {"begun": first - 1, "target": "none"}
    for record in map(json.loads, (place / "log").read_text(encoding="utf-8").splitlines()):
        if "begun" in record:
            begun = record
            tally.count("in process", record["target"])
        else:
            tally.fail(record["fault"], record["case"], record["why"], Path(record["files"]))
    if status:
        errors = (place / "stderr").read_text(encoding="utf-8", errors="replace")[-4000:]
        fault = "hangs" if status == -signal.SIGALRM else "crashes"
        tally.fail(fault, _name(begun["target"], begun["begun"]), f"exit code {status}\n{errors}", place / "failing")
    return int(begun["begun"]) + 1


def _name(target: str, number: int) -> str:
    return f"{target.replace(' ', '-')}-{number}"


class Fault(NamedTuple):
    """What went wrong with one input."""

    kind: str
    why: str


class _Worker:
    """Reads hostile inputs one after another, and logs each before it is read."""

    def __init__(self, targets: Sequence[Target], seeds: Path, place: Path, seed: int) -> None:
        self._targets, self._shares = list(targets), [target.share for target in targets]
        self._seeds, self._place, self._seed = seeds, place, seed
        self._good = {target.name: sorted((seeds / target.name).iterdir()) for target in targets}
        self._contents: dict[Path, bytes] = {}
        for name in ("home", "tmp", "copies", "failing"):
            (place / name).mkdir()
        os.environ |= {"HOME": str(place / "home"), "HEEDFUL_CACHE": str(place / "cache"), "TMPDIR": str(place / "tmp")}
        tempfile.tempdir = str(place / "tmp")
        os.chdir(place / "tmp")
        self._watch = Watch(allowed=[place])
        self._errors = os.open(place / "stderr", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(self._errors, 1)
        os.dup2(self._errors, 2)

    def work(self, numbers: range, until: float) -> None:
        """Read the inputs of these numbers."""
        with (self._place / "log").open("a", encoding="utf-8", buffering=1) as log:
            for number in numbers:
                if time.monotonic() > until:
                    return
                draw = Random(f"{self._seed} {number}")
                (target,) = draw.choices(self._targets, self._shares)
                log.write(json.dumps({"begun": number, "target": target.name}) + "\n")
                failing = self._place / "failing" / _name(target.name, number)
                for fault in self._faults(target, draw, failing):
                    case = {"fault": fault.kind, "case": failing.name, "why": fault.why, "files": str(failing)}
                    log.write(json.dumps(case) + "\n")

    def _faults(self, target: Target, draw: Random, failing: Path) -> list[Fault]:
        """What shows when one hostile input is read; its content is kept as `failing` if anything does."""
        whole = draw.choice(self._good[target.name])
        good = draw.choice(sorted(path for path in whole.rglob("*") if path.is_file())) if target.whole else whole
        if good not in self._contents:
            self._contents[good] = good.read_bytes()
        content = hostile(good.name, self._contents[good], draw)
        given = self._place / "copies" / target.name / whole.name
        if not given.exists():
            given.parent.mkdir(exist_ok=True)
            (shutil.copytree if target.whole else shutil.copy)(whole, given)
        file = given / good.relative_to(whole) if target.whole else given
        file.write_bytes(content)
        faults = [*self._read(target, given), *(Fault(*found) for found in self._watch.take())]
        if faults:
            failing.mkdir()
            (failing / good.name).write_bytes(content)
        if target.whole:
            file.write_bytes(self._contents[good])
        return faults

    def _read(self, target: Target, given: Path) -> list[Fault]:
        faults = []
        signal.alarm(LONGEST)
        try:
            target.read(given)
        except HeedfulError:
            pass
        except BaseException:
            faults.append(Fault("tracebacks", traceback.format_exc()))
        signal.alarm(0)
        if size := os.fstat(self._errors).st_size:
            said = os.pread(self._errors, min(size, 20_000), 0)
            os.ftruncate(self._errors, 0)
            if b"panicked at" in said or b"Traceback" in said:
                faults.append(Fault("tracebacks", f"on standard error:\n{said.decode(errors='replace')}"))
        return faults
