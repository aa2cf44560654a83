"""Where runs are: run directories, or folders that hold some."""

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from heedful.errors import NotFound

RUN = "config.toml"  # a file that only a run directory has

Places = Path | str | Sequence[Path | str]


def run_folders(places: Places, marks: Collection[str] = (RUN,)) -> list[Path]:
    """The run directories at or below some places, each once, in the order in which they were named; a place without
    any is an error. Directories are known by files that only they have, the `marks`."""
    found: dict[Path, Path] = {}
    for place in [places] if isinstance(places, Path | str) else places:
        folders = list(_below(Path(place), frozenset(marks)))
        if not folders:
            what = "is no run directory, and holds none" if Path(place).is_dir() else "is not there"
            raise NotFound(f"{place} {what}: name run directories, or a folder of them; `heedful run` makes one")
        for folder in folders:
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def _below(place: Path, marks: frozenset[str]) -> Iterator[Path]:
    """The run directories at or below a place, sorted; what lies inside a run is its own."""
    for folder, below, files in os.walk(place):
        below.sort()
        if not marks.isdisjoint(files):
            below.clear()
            yield Path(folder)
        below[:] = [name for name in below if not name.startswith(".")]
