"""`heedful verify`: are the files of runs and audits as they were written?"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from heedful.workspace.folder import StageFolder
    from heedful.workspace.verification import Verified


def verify(
    runs: Annotated[list[Path], Argument(help="Run and audit directories, or folders of them, such as a sweep's.")],
    repair: Annotated[
        bool,
        Option("--repair", help="Delete damaged stages, and what depends on them: the same run redoes them."),
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Check each file of runs and audits against its recorded hash. Exit code 1: something is damaged."""
    from heedful.audits.directory import Audit
    from heedful.cli.console import bars, console
    from heedful.printable import printable
    from heedful.runs.catalogue import run_folders
    from heedful.runs.directory import Run
    from heedful.workspace import verification

    ways: dict[str, tuple[type[StageFolder], Callable[[Path], StageFolder]]] = {
        Run.OPTIONS: (Run, Run.open),
        Audit.OPTIONS: (Audit, Audit.load),
    }
    folders = run_folders(runs, tuple(ways))
    found: list[tuple[Verified, list[str]]] = []
    with bars(stopped="what was not reached yet was neither checked nor changed") as reporter:
        reporter.start("verifying", sum(map(verification.size_of, folders)))
        read = 0

        def on_bytes(count: int) -> None:
            nonlocal read
            read += count
            reporter.reach(read)

        for folder in folders:
            kind, open_folder = next(way for options, way in ways.items() if (folder / options).is_file())
            verified = verification.verify(kind, folder, on_bytes)
            repaired = repair and not verified.intact
            found.append((verified, _repaired(verified, open_folder) if repaired else []))
        files = sum(verified.files for verified, _ in found)
        reporter.finish(f"{files:,} files with hashes in {len(found):,} directories")
    intact = all(verified.intact for verified, _ in found)
    if as_json:
        each = [{**verified.to_json(), "repair": done} for verified, done in found]
        typer.echo(json.dumps({"intact": intact, "directories": each}))
    else:
        for line in (line for verified, done in found for line in _lines(verified, done)):
            console.print(printable(line), markup=False, soft_wrap=True)
    if not intact:
        raise typer.Exit(1)


def _repaired(verified: "Verified", open_folder: "Callable[[Path], StageFolder]") -> list[str]:
    """What was done; an error of one directory does not keep the others from being repaired."""
    from heedful.errors import HeedfulError
    from heedful.workspace.verification import repair

    try:
        return repair(verified, open_folder)
    except HeedfulError as error:
        return [f"not repaired: {error}"]


def _lines(verified: "Verified", done: list[str]) -> Iterator[str]:
    """A directory in words: one line, and one for each damaged file and for each thing that was done."""
    if verified.intact and not verified.files:
        yield f"{verified.folder}: no hashes were recorded (made by an older version), so nothing can be checked"
        return
    if verified.intact:
        yield f"{verified.folder}: {verified.files:,} files as recorded, {verified.size / 1e6:,.1f} MB"
    else:
        yield f"{verified.folder}: DAMAGED, {len(verified.damaged):,} of {verified.files:,} files"
    for damage in verified.damaged:
        yield f"  {damage.file}: {damage.reason}"
    if verified.unrecorded:
        yield f"  no hash was recorded of {', '.join(verified.unrecorded)} (made by an older version): not checked"
    yield from (f"  {each}" for each in done)
    if not verified.intact and not done:
        yield f"  `heedful verify --repair {verified.folder}` deletes what is damaged, and the same command redoes it"
