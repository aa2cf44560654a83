"""`heedful sweep`: every run of a grid."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from heedful.sweeps.cells import Cell


def sweep(
    grid: Annotated[str, Argument(help="A TOML grid file, or jain-wallace, jain-wallace-short, serrano-smith, seeds.")],
    on: Annotated[str, Option(help="local: processes on this machine; ray: a cluster.")] = "local",
    workers: Annotated[int | None, Option(help="Runs at a time; default: as many as keep all processors busy.")] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Check the grid and list its cells, their state and expected cost; run nothing.")
    ] = False,
    set_: Annotated[
        list[str] | None, Option("--set", help="Any grid value, e.g. seed=[0,1,2] or training.epochs=3; repeatable.")
    ] = None,
    subset: Annotated[bool, Option("--subset", help="Accept subsets of the official data.")] = False,
    out: Annotated[Path, Option(help="Folder for run directories.")] = Path("runs"),
    data: Annotated[Path | None, Option(help="Folder of corpora (default: HEEDFUL_DATA, then downloads).")] = None,
    address: Annotated[
        str | None, Option(help="With --on ray: address of a running cluster; default: start one on this machine.")
    ] = None,
    retries: Annotated[int, Option(help="How often to retry a run that crashed.")] = 1,
    private: Annotated[
        bool, Option("--private", help="Only you can read what is written (always so with restricted corpora).")
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print the outcome of each cell as JSON.")] = False,
) -> None:
    """Perform every run of a grid, several at a time. Resumes an interrupted sweep; repeats nothing."""
    from heedful.cli.console import console, notices, parse_settings
    from heedful.errors import DiskFull, Stopped
    from heedful.report.terminal.sweep import print_outcome, print_plan, watching
    from heedful.sweeps.cells import survey
    from heedful.sweeps.grid import read_grid
    from heedful.sweeps.sweep import sweep as perform_sweep

    settings: dict[str, Any] = {**parse_settings(set_ or []), **({"subset": True} if subset else {})}
    checked = read_grid(grid, settings)
    if dry_run:
        cells = survey(checked, out, data)
        if as_json:
            typer.echo(json.dumps([_facts(cell) for cell in cells]))
        else:
            print_plan(cells, out, console)
        return
    try:
        with watching(notices) as watcher:
            places: dict[str, Any] = {"on": on, "workers": workers, "out": out, "data": data, "address": address}
            done = perform_sweep(checked, **places, retries=retries, private=private, watcher=watcher)
    except KeyboardInterrupt:
        raise Stopped(f"stopped{_progress(watcher.cells)}; the same command resumes it") from None
    if as_json:
        typer.echo(json.dumps([_facts(cell) for cell in done.cells]))
    else:
        print_outcome(done.cells, out, console)
    if full := sum(cell.disk_full for cell in done.cells):
        raise DiskFull(f"no space left for {full} of {len(done.cells)} cells: free some space and run it again")
    if not done.complete:
        raise typer.Exit(1)


def _progress(cells: "Sequence[Cell]") -> str:
    done = sum(cell.state == "done" for cell in cells)
    return f": {done} of {len(cells)} cells are done" if cells else ""


def _facts(cell: "Cell") -> dict[str, Any]:
    return {
        "cell": cell.name,
        "state": cell.state,
        "run": str(cell.folder),
        "reason": cell.reason,
        "seconds": round(cell.seconds, 3),
        "attempts": cell.attempts,
        "missing": cell.missing,
        "expected_seconds": cell.cost,
    }
