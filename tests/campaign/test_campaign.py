"""The fast part of `make campaign`; and that a campaign notices what it is there for."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.campaign import fuzzing
from benchmarks.campaign.tally import FAULTS, Tally
from benchmarks.campaign.targets import Target
from heedful.errors import BadInput

ROOT = Path(__file__).parents[2]
PLENTY = 600  # minutes: the numbers below end it


def test_a_short_campaign_finds_nothing(tmp_path: Path) -> None:
    """In a process of its own: forks of one that has used polars would hang."""
    numbers = {"--inputs": 300, "--commands": 12, "--kills": 3, "--minutes": PLENTY}
    options = [str(each) for pair in numbers.items() for each in pair]
    command = [sys.executable, "-m", "benchmarks.campaign", "--keep", str(tmp_path / "failing"), *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "      300  hostile inputs read in process" in done.stdout
    assert "       12  hostile inputs given to the command line" in done.stdout
    assert "        3  commands killed at a random moment" in done.stdout


def refuse(path: Path) -> None:
    raise BadInput(f"{path} is no good")


def stumble(path: Path) -> None:
    raise KeyError(path.name)


def panic(path: Path) -> None:
    os.write(2, b"\nthread 'x' panicked at a.rs:1:1:\n")


def die(path: Path) -> None:
    os.abort()


def write_beside(path: Path) -> None:
    (path.parents[3] / "outside").mkdir(exist_ok=True)


def connect(path: Path) -> None:
    with socket.socket() as connection:
        connection.settimeout(0.01)
        try:
            connection.connect(("192.0.2.1", 9))  # an address for documentation: nobody is there
        except OSError:
            raise BadInput("not reached") from None


@pytest.mark.parametrize(
    ("read", "fault"),
    [
        (refuse, None),
        (stumble, "tracebacks"),
        (panic, "tracebacks"),
        (die, "crashes"),
        (write_beside, "files outside"),
        (connect, "connections"),
    ],
)
def test_what_goes_wrong_is_counted_and_kept(read: Callable[[Path], None], fault: str | None, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds"
    (seeds / "texts").mkdir(parents=True)
    (seeds / "texts" / "a.txt").write_text("some text")
    tally = Tally(tmp_path / "keep")
    target = Target("texts", lambda folder: None, read, 1)
    fuzzing.fuzz([target], seeds, tmp_path / "place", tally, seed=0, cases=3, until=float("inf"))
    assert tally.tried["in process"] == 3
    assert dict(tally.faults) == ({} if fault is None else {fault: 3})
    assert tally.failed == (fault is not None)
    kept = sorted((tmp_path / "keep").glob("*/why.txt"))
    assert len(kept) == (0 if fault is None else 3)
    for file in kept:
        assert FAULTS[str(fault)] in file.read_text()
        assert any(path.is_file() for path in (file.parent / "input").rglob("*")) or fault == "crashes"
