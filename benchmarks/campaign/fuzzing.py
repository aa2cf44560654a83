"""Hostile inputs read in process: many a second."""

import shutil
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.campaign.mutations import hostile
from benchmarks.campaign.tally import Tally
from benchmarks.campaign.targets import Target
from benchmarks.campaign.workers import Fault, Worker, case_name, in_workers
from heedful.errors import HeedfulError

BLOCK = 4000  # cases of a worker


def fuzz(
    targets: Sequence[Target], seeds: Path, place: Path, tally: Tally, *, seed: int, cases: int, until: float
) -> None:
    """Read so many hostile inputs, or as many as there is time for."""
    in_workers(
        partial(_Reader, targets, seeds, seed), place, tally, "in process", block=BLOCK, cases=cases, until=until
    )


class _Reader(Worker):
    """Reads hostile inputs."""

    def __init__(self, targets: Sequence[Target], seeds: Path, seed: int, place: Path) -> None:
        super().__init__(place, allowed=[seeds / ".cache"])
        self._targets, self._shares, self._seed = list(targets), [target.share for target in targets], seed
        self._good = {target.name: sorted((seeds / target.name).iterdir()) for target in targets}
        self._contents: dict[Path, bytes] = {}

    def perform(self, number: int) -> None:
        """Read one hostile input; its content is kept if anything goes wrong."""
        draw = Random(f"{self._seed} {number}")
        (target,) = draw.choices(self._targets, self._shares)
        self.begin(number, target.name)
        whole = draw.choice(self._good[target.name])
        good = draw.choice(sorted(path for path in whole.rglob("*") if path.is_file())) if target.whole else whole
        if good not in self._contents:
            self._contents[good] = good.read_bytes()
        content = hostile(good.name, self._contents[good], draw)
        given = self.place / "copies" / target.name / whole.name
        if not given.exists():
            given.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if target.whole else shutil.copy)(whole, given)
        file = given / good.relative_to(whole) if target.whole else given
        file.write_bytes(content)
        faults = [*self._read(target, given), *self.trespasses()]
        if faults:
            failing = self.place / "failing" / case_name(target.name, number)
            failing.mkdir()
            (failing / good.name).write_bytes(content)
            self.tell(failing.name, faults, failing)
        if target.whole:
            file.write_bytes(self._contents[good])

    def _read(self, target: Target, given: Path) -> list[Fault]:
        faults = []
        try:
            target.read(given)
        except HeedfulError:
            pass
        except BaseException:
            faults.append(Fault("tracebacks", traceback.format_exc()))
        _, errors = self.said()
        if "panicked at" in errors or "Traceback" in errors:
            faults.append(Fault("tracebacks", f"on standard error:\n{errors}"))
        return faults
