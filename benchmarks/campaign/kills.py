"""Runs, audits, reports and sweeps, killed at random moments: in the end the same bytes, and nothing done twice."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.campaign.commands import Command, Ended
from benchmarks.campaign.tally import Tally
from tests.runs.small import ARGUMENTS

TIMED = ("manifest.json", "card.html")  # files that say how long it took
MOST = 12  # kills before a command is left to finish
_SUBJECT = f"{Path(__file__).parents[2] / 'tests' / 'audits' / 'models.py'}:faithful"
_GRID = """corpus = "planted"
corpus_options = {train = 64, dev = 20, test = 30}
embedding.width = 8
encoder_options.hidden = 4
training = {epochs = 2, batch = 16}
experiments = ["permutation", "reach"]
seed = [0, 1, 2]
"""
DONE = (0, 1, 3)  # an audit of a few texts says no, or determines nothing


class Kind(NamedTuple):
    """A command to be killed: its arguments, where its results are, and which of them have stages."""

    name: str
    arguments: Callable[[Path], list[str]]
    out: str
    staged: bool
    share: float


def _run(place: Path) -> list[str]:
    return ["run", *ARGUMENTS, "--out", "out"]


def _audit(seeds: Path, place: Path) -> list[str]:
    data = str(seeds / "tables" / "table.csv")
    return ["audit", "--module", _SUBJECT, "--data", data, "--sample", "4", "--threads", "1", "--out", "out"]


def _report(seeds: Path, place: Path) -> list[str]:
    if not (place / "runs").exists():  # findings are kept in it
        shutil.copytree(seeds / "runs", place / "copied")
        (place / "copied").rename(place / "runs")
    return ["report", "runs", "--out", "out", "--formats", "svg"]


def _sweep(place: Path) -> list[str]:
    (place / "grid.toml").write_text(_GRID)
    return ["sweep", "grid.toml", "--workers", "2", "--out", "out"]


def kinds(seeds: Path) -> list[Kind]:
    """The commands that are killed."""
    return [
        Kind("run", _run, "out", True, 8),
        Kind("audit", lambda place: _audit(seeds, place), "out", True, 5),
        Kind("report", lambda place: _report(seeds, place), "out", False, 3),
        Kind("sweep", _sweep, "out", True, 1.5),
    ]


def kill(seeds: Path, place: Path, tally: Tally, *, seed: int, kills: int, until: float) -> None:
    """Kill commands so many times, or as often as there is time for; each is killed a few times, then left alone."""
    whole: dict[str, tuple[dict[str, bytes], float]] = {}
    draw, done, every = Random(f"{seed} kills"), 0, kinds(seeds)
    while done < kills and time.monotonic() < until:
        (kind,) = draw.choices(every, [each.share for each in every])
        shutil.rmtree(place, ignore_errors=True)
        if kind.name not in whole:
            whole[kind.name] = _undisturbed(kind, place / "whole", seeds, tally)
        expected, seconds = whole[kind.name]
        here = place / "killed"
        before: dict[str, Any] = {}
        for _ in range(draw.randint(2, MOST)):
            if done >= kills or time.monotonic() > until:
                break
            ended = _command(kind, here, seeds).kill_after(draw.random() * seconds)
            _wait_for_workers(here)
            before = _check_stages(kind, here, before, tally, done)
            _check_ended(kind, ended, here, tally, done, killed=True)
            if ended.code == -signal.SIGKILL:
                done += 1
                tally.count("kills", kind.name)
                if not kind.staged:
                    _check_site(kind, here, expected, tally, done)
        ended = _command(kind, here, seeds).wait()
        _check_ended(kind, ended, here, tally, done, killed=False)
        _check_stages(kind, here, before, tally, done)
        _compare(kind, here, expected, tally, done)


def _command(kind: Kind, place: Path, seeds: Path) -> Command:
    place.mkdir(parents=True, exist_ok=True)
    return Command(lambda: kind.arguments(place), place, cache=place / "cache")


def _undisturbed(kind: Kind, place: Path, seeds: Path, tally: Tally) -> tuple[dict[str, bytes], float]:
    """The bytes that a command leaves when it is not killed, and how long it takes."""
    ended = _command(kind, place, seeds).wait()
    if ended.code not in DONE:
        raise RuntimeError(f"{kind.name} does not work undisturbed: {ended.err}")
    return contents(place / kind.out), ended.seconds


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of the files that are the same whenever the same is done: not those with times, nor hidden ones."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _varies(path.relative_to(folder))
    }


def _varies(path: Path) -> bool:
    return path.name in TIMED or any(part.startswith(".") for part in path.parts)


def _check_ended(kind: Kind, ended: Ended, here: Path, tally: Tally, number: int, *, killed: bool) -> None:
    case, said = f"{kind.name}-{number}", f"exit code {ended.code}\n{ended.err[-6000:]}"
    for fault, what in ended.faults:
        tally.fail(fault, case, f"{what}\n{said}", here)
    if "Traceback" in ended.err or "panicked at" in ended.err:
        tally.fail("tracebacks", case, said, here)
    if ended.code not in ((*DONE, -signal.SIGKILL) if killed else DONE):
        fault = "exit 70" if ended.code == 70 else "hangs" if ended.code == -signal.SIGKILL else "losses"
        tally.fail(fault, case, said, here)


def _check_stages(kind: Kind, here: Path, before: dict[str, Any], tally: Tally, number: int) -> dict[str, Any]:
    """The finished stages of all directories; those of before must be among them, as they were."""
    now: dict[str, Any] = {}
    if kind.staged:
        for file in sorted((here / kind.out).rglob("manifest.json")):
            try:
                stages = json.loads(file.read_text(encoding="utf-8"))["stages"]
            except (ValueError, KeyError) as error:
                tally.fail("losses", f"{kind.name}-{number}", f"{file}: {error}", here)
                continue
            now |= {f"{file.parent.name}/{name}": entry for name, entry in stages.items()}
        for name, entry in before.items():
            if now.get(name) != entry:
                tally.fail("losses", f"{kind.name}-{number}", f"stage {name} was {entry}, is {now.get(name)}", here)
    return now


def _check_site(kind: Kind, here: Path, expected: dict[str, bytes], tally: Tally, number: int) -> None:
    """After a kill there is no report, or a whole one."""
    if (here / kind.out).exists():
        _compare(kind, here, expected, tally, number, leftovers=False)


def _compare(
    kind: Kind, here: Path, expected: dict[str, bytes], tally: Tally, number: int, *, leftovers: bool = True
) -> None:
    found = contents(here / kind.out)
    if differing := sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name)):
        tally.fail("mismatches", f"{kind.name}-{number}", f"other content: {differing[:20]}", here)
    left: list[Path] = []
    if leftovers:
        left += [path for path in (here / kind.out).rglob("*") if path.name.endswith((".tmp", ".parts"))]
        left += [path for path in here.iterdir() if path.name.startswith(f".{kind.out}.")]
    if left:
        tally.fail("mismatches", f"{kind.name}-{number}", f"left behind: {left[:20]}", here)


def _wait_for_workers(place: Path, seconds: float = 60.0) -> None:
    """Workers of a killed sweep notice that it is gone; wait until none is left that works in this folder."""
    ending = time.monotonic() + seconds
    while time.monotonic() < ending and any(_works_in(process, place) for process in _processes()):
        time.sleep(0.05)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and path.name != str(os.getpid())]


def _works_in(process: int, place: Path) -> bool:
    try:
        return Path(f"/proc/{process}/cwd").readlink() == place
    except OSError:  # gone, or another user's
        return False
