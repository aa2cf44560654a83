"""Which runs and audits a report is about: their directories, or folders that hold some."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heedful.audits.directory import OPTIONS, Audit
from heedful.errors import HeedfulError, NotFound
from heedful.report.audited import AuditedRun, is_audit
from heedful.runs.directory import Run
from heedful.runs.places import RUN, Places, run_folders


class Refused(NamedTuple):
    """A run that cannot be shown."""

    folder: Path
    reason: str


class Gathered(NamedTuple):
    """Runs that can be shown, in the order in which they were named, and those that cannot."""

    runs: list[Run]
    refused: list[Refused]


def gather(places: Sequence[Path], *, audits: bool = True) -> Gathered:
    """Open the runs (and audits) of some places; what is unfinished or damaged is refused, a place without any is an
    error."""
    runs: list[Run] = []
    refused: list[Refused] = []
    for folder in run_folders(places, (RUN, OPTIONS) if audits else (RUN,)):
        try:
            runs.append(_opened(folder))
        except HeedfulError as error:
            refused.append(Refused(folder, str(error)))
    if not runs:
        reasons = "; ".join(str(each.reason) for each in refused)
        raise NotFound(f"there is no run that can be shown: {reasons}")
    return Gathered(runs, refused)


def given_runs(given: Places | Sequence[Run]) -> list[Run]:
    """Runs that a user names: by themselves, or by places; of places, what cannot be read is left out."""
    if not isinstance(given, Path | str):
        runs = [each for each in given if isinstance(each, Run)]
        if len(runs) == len(given):
            return runs
        given = [each for each in given if not isinstance(each, Run)]
        return [*runs, *gather([Path(each) for each in given], audits=False).runs]
    return gather([Path(given)], audits=False).runs


def _opened(folder: Path) -> Run:
    """A run whose files can be read: one that is damaged must not keep the others from being shown."""
    if is_audit(folder):
        Audit.load(folder).require("verdict")
        return AuditedRun(Audit.load(folder))
    run = Run.open(folder)
    run.require("evidence")
    run.check()
    return run
