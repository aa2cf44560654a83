"""How the costs of `heedful report` and `heedful compare` grow: ten times the instances of a run, ten times the runs.

`python -m benchmarks.growth` prints processor time and peak memory of each command, first and again (when findings are
kept), and the exponents e of cost = constant + c * size^e; the constant is what the command costs for a run of 30
instances. An exponent of 1 is growth in proportion. Each command is a process of its own.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.report import FOLDER
from heedful.files import write_json
from heedful.integrity import MANIFEST, content_fingerprint, sealed, unsealed
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from tests.making import make_evidence
from tests.report.made_run import made_run

EXPERIMENTS = ("correlation", "permutation", "adversary", "substitution", "single_weight", "removal")
FEW_EXPERIMENTS = ("violation",)  # of a thousand runs: figures take half a second of each run, whatever their number
COMMANDS = ("report", "compare")
UNITS = {"seconds": "s", "megabytes": "MB"}
FLOOR = 30  # instances of the run that stands for none
LONGEST = 12  # items of an instance


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    seconds: float  # of the processor, of all its threads
    megabytes: float  # of memory at most


@dataclass(frozen=True)
class Growth:
    """What a command took for a small size and for one ten times as large, and for next to nothing."""

    command: str
    of: str
    sizes: tuple[int, int]
    floor: Cost
    small: Cost
    large: Cost

    def exponent(self, unit: str) -> float:
        """1: in proportion to the size; the constant cost of the command is not counted."""
        floor, small, large = (getattr(cost, unit) for cost in (self.floor, self.small, self.large))
        if small <= floor or large <= small:
            return 0.0  # nothing that grows could be seen
        return math.log((large - floor) / (small - floor)) / math.log(self.sizes[1] / self.sizes[0])

    def __str__(self) -> str:
        parts = []
        for unit, name in UNITS.items():
            floor, small, large = (getattr(cost, unit) for cost in (self.floor, self.small, self.large))
            parts.append(f"{small:,.1f} to {large:,.1f} {name} (constant {floor:,.1f}): {self.exponent(unit):.2f}")
        return f"{self.command}, {self.sizes[0]:,} to {self.sizes[1]:,} {self.of}: {'; '.join(parts)}"


def growth_of_instances(folder: Path, small: int = 20_000, large: int = 200_000) -> list[Growth]:
    """One run of so many instances."""
    places = {size: [_run(folder / f"{size}-instances", size, EXPERIMENTS)] for size in (FLOOR, small, large)}
    return _grown("instances of one run", places, folder)


def growth_of_runs(folder: Path, small: int = 100, large: int = 1000) -> list[Growth]:
    """So many runs of few instances: twenty configurations, whose seeds differ."""
    first = _run(folder / "first", FLOOR, FEW_EXPERIMENTS)
    runs = [_copied(first, folder / "runs" / f"run-{number:04d}", number) for number in range(large)]
    return _grown("runs", {1: runs[:1], small: runs[:small], large: runs}, folder)


def _grown(of: str, places: dict[int, list[Path]], folder: Path) -> list[Growth]:
    floor, small, large = places
    grown = []
    for command in COMMANDS:
        for turn in ("first", "again"):
            costs = {}
            for size, runs in places.items():
                if turn == "first":  # nothing may be kept of the smaller size
                    for run in runs:
                        shutil.rmtree(run / ".findings", ignore_errors=True)
                costs[size] = measured(command, runs, folder / "site")
            name = f"heedful {command}, {turn}"
            grown.append(Growth(name, of, (small, large), costs[floor], costs[small], costs[large]))
            print(grown[-1], flush=True)
    return grown


def measured(command: str, runs: Sequence[Path], site: Path) -> Cost:
    """What a command takes for some runs, in a process of its own."""
    options = ["--out", str(site), "--formats", "none"] if command == "report" else []
    arguments = [sys.executable, "-m", "heedful.cli.main", command, *map(str, runs), "--json", *options]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(arguments[:5])} ... ended with status {status}")
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Cost(usage.ru_utime + usage.ru_stime, kilobytes / 1000)


def _run(folder: Path, instances: int, experiments: Sequence[str]) -> Path:
    """A made-up run, with the hashes that a real one has."""
    made_run(folder, make_evidence(n=instances, longest=LONGEST), experiments=experiments)
    return _as(folder, 0)


def _copied(first: Path, folder: Path, number: int) -> Path:
    return _as(Path(shutil.copytree(first, folder)), number)


def _as(folder: Path, number: int) -> Path:
    """Make a directory that of the run with this number: one of twenty configurations, with a seed."""
    (folder / "config.toml").unlink()
    values = {"corpus": "sst", "encoder": ("bilstm", "average")[number % 2], "seed": number // 20}
    run = Run(folder, resolve({**values, "training": {"epochs": 1 + number % 20 // 2}}))
    run.write_config()
    manifest, _ = unsealed((run.folder / MANIFEST).read_bytes())
    files = sorted(path for path in run.folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    manifest["files"] = {path.relative_to(run.folder).as_posix(): content_fingerprint(path) for path in files}
    (run.folder / MANIFEST).write_text(sealed(manifest), encoding="utf-8")
    return run.folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", choices=("instances", "runs", "both"), default="both")
    parser.add_argument("--instances", type=int, nargs=2, default=(20_000, 200_000))
    parser.add_argument("--runs", type=int, nargs=2, default=(100, 1000))
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:  # TMPDIR may name a disk in memory: files are synchronised
        if options.of != "runs":
            found += growth_of_instances(Path(folder) / "instances", *options.instances)
        if options.of != "instances":
            found += growth_of_runs(Path(folder) / "runs", *options.runs)
    rows = [asdict(each) | {"exponents": {unit: each.exponent(unit) for unit in UNITS}} for each in found]
    write_json(FOLDER / f"growth-of-{options.of}.json", rows)


if __name__ == "__main__":
    main()
