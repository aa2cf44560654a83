"""Where a report may go: to a new place, an empty directory, or over another report; nothing else is ever touched."""

import os
from collections.abc import Sequence
from pathlib import Path

from heedful.errors import BadConfig
from heedful.runs.directory import Run

_PARTS = {"index.html", "assets", "data", "tables", "figures"}
_VISITS = {".DS_Store", "Thumbs.db", "desktop.ini"}  # what systems leave in a folder that was looked at


def report_place(out: Path, runs: Sequence[Run] = (), *, option: str = "--out") -> Path:
    """The directory that `out` means, links followed; raise, naming the option, unless a report may go there."""
    place = Path(os.path.realpath(out))
    if place.exists() and not place.is_dir():
        raise BadConfig(f"{option} {out}: that is a file; name a directory to be made")
    if place.is_dir() and not _is_report(place):
        raise BadConfig(f"{option} {out}: that directory holds something else than a report; choose another one")
    for run in runs:
        if place.exists() and place in (run.folder.resolve(), *run.folder.resolve().parents):
            raise BadConfig(f"{option} {out}: the run {run.folder} is in there; choose another directory")
    here = Path.cwd()
    if place in (here, *here.parents):  # the old one is taken away as a whole
        raise BadConfig(f"{option} {out}: you are in that directory; name another one, such as site")
    return place


def _is_report(place: Path) -> bool:
    """Whether a directory holds a report and nothing else, or nothing at all."""
    names = {path.name for path in place.iterdir()} - _VISITS
    if not names:
        return True
    try:
        with (place / "data" / "site.js").open("rb") as file:
            return names <= _PARTS and file.read(18) == b"heedful.store.add("
    except OSError:
        return False
