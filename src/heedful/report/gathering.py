"""Which runs a report is about: run directories, or folders that hold some."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from heedful.errors import HeedfulError, NotFound
from heedful.runs.directory import Run


class Refused(NamedTuple):
    """A run that cannot be shown."""

    folder: Path
    reason: str


class Gathered(NamedTuple):
    """Runs that can be shown, in the order in which they were named, and those that cannot."""

    runs: list[Run]
    refused: list[Refused]


def gather(places: Sequence[Path]) -> Gathered:
    """Open the runs of some places; an unfinished or damaged run is refused, a place without any run is an error."""
    runs: list[Run] = []
    refused: list[Refused] = []
    seen: set[Path] = set()
    for place in places:
        folders = list(_folders(place))
        if not folders:
            what = "is no run directory, and holds none" if place.is_dir() else "is not there"
            raise NotFound(f"{place} {what}: name run directories, or a folder of them; `heedful run` makes one")
        for folder in folders:
            if folder.resolve() in seen:
                continue
            seen.add(folder.resolve())
            try:
                runs.append(_opened(folder))
            except HeedfulError as error:
                refused.append(Refused(folder, str(error)))
    if not runs:
        reasons = "; ".join(str(each.reason) for each in refused)
        raise NotFound(f"there is no run that can be shown: {reasons}")
    return Gathered(runs, refused)


def _opened(folder: Path) -> Run:
    run = Run.open(folder)
    run.require("evidence")
    return run


def _folders(place: Path) -> Iterator[Path]:
    """The run directories at or below a place, sorted; what lies inside a run is its own."""
    for folder, below, files in os.walk(place):
        below.sort()
        if "config.toml" in files:
            below.clear()
            yield Path(folder)
        below[:] = [name for name in below if not name.startswith(".")]
