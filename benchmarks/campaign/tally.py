"""What a campaign counts, and the cases that failed, each kept in a folder of its own."""

import json
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# each must be 0
FAULTS = {
    "tracebacks": "an error other than heedful's own, or a traceback on standard error",
    "exit 70": "the command line took it for a bug of heedful's",
    "crashes": "the process was ended by a signal of its own making, or ran out of memory",
    "hangs": "no answer in time",
    "wrong answers": "another exit code than 0 to 3, not one line of error, or a good run that was not shown",
    "losses": "what was finished before a kill was done again, or could not be gone on from",
    "mismatches": "other bytes than those of an undisturbed command",
    "files outside": "written outside the folders that a command was given",
    "connections": "attempts to reach another machine",
}
TRIED = {
    "in process": "hostile inputs read in process",
    "command line": "hostile inputs given to the command line",
    "kills": "commands killed at a random moment",
}


@dataclass
class Tally:
    """Counts of what was tried and of faults; failing cases go to `keep`."""

    keep: Path
    tried: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)  # of what was tried, by target or command

    def count(self, kind: str, part: str, number: int = 1) -> None:
        """So many more were tried."""
        self.tried[kind] += number
        self.parts[f"{kind}: {part}"] += number

    def fail(self, fault: str, case: str, why: str, files: Path | None = None) -> None:
        """Count a fault, and keep the case: the files that show it, and what happened."""
        assert fault in FAULTS, fault
        self.faults[fault] += 1
        folder = self.keep / f"{fault.replace(' ', '-')}-{case}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "why.txt").write_text(f"{fault}: {FAULTS[fault]}\n\n{why}\n", encoding="utf-8", errors="replace")
        if files is not None and files.exists():
            place = folder / "input"
            if files.is_dir():
                shutil.copytree(files, place, symlinks=True, dirs_exist_ok=True, ignore_dangling_symlinks=True)
            else:
                place.mkdir(exist_ok=True)
                shutil.copy(files, place)

    def add(self, counts: dict[str, dict[str, int]]) -> None:
        """Add what another process has counted."""
        for name, numbers in counts.items():
            getattr(self, name).update(numbers)

    @property
    def failed(self) -> bool:
        """Whether any fault was found."""
        return bool(sum(self.faults.values()))

    def lines(self) -> list[str]:
        """The counts, a line each."""
        rows = [f"{self.tried[kind]:>9,}  {meaning}" for kind, meaning in TRIED.items()]
        rows += [f"{'':>9}    {number:>8,}  {part}" for part, number in sorted(self.parts.items())]
        rows += [f"{self.faults[fault]:>9,}  {fault}: {meaning}" for fault, meaning in FAULTS.items()]
        return [*rows, f"failing cases: {self.keep}" if self.failed else "nothing failed"]

    def to_json(self) -> str:
        """The counts as JSON."""
        return json.dumps({"tried": self.tried, "parts": self.parts, "faults": self.faults})
