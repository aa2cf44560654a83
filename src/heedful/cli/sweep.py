"""`heedful sweep`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from heedful.sweeps.cells import Cell


def sweep(
    grid: Annotated[
        str, typer.Argument(help="A TOML file of values, or jain-wallace, jain-wallace-short, serrano-smith, seeds.")
    ],
    on: Annotated[str, typer.Option(help="local: processes on this machine; ray: a cluster.")] = "local",
    workers: Annotated[
        int | None, typer.Option(help="How many runs at a time; default: as many as keep all processors busy.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only check the grid and list its cells, what is done, and the cost.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any value of the grid, e.g. seed=[0,1,2] or training.epochs=3; repeatable."),
    ] = None,
    subset: Annotated[bool, typer.Option("--subset", help="Accept parts of the official data.")] = False,
    out: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    data: Annotated[Path | None, typer.Option(help="Where corpora lie (default: HEEDFUL_DATA, downloads).")] = None,
    address: Annotated[
        str | None, typer.Option(help="With --on ray: a running cluster's; default: one of this machine's own.")
    ] = None,
    retries: Annotated[int, typer.Option(help="How often a run that crashed is tried again.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print what became of each cell as JSON.")] = False,
) -> None:
    """Do every run of a grid, several at a time; goes on where it was interrupted, repeats nothing."""
    from heedful.cli.console import console, notices, parse_settings
    from heedful.errors import Stopped
    from heedful.report.terminal.sweep import planned, summed_up, watching
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
            planned(cells, out, console)
        return
    try:
        with watching(notices) as watcher:
            done = perform_sweep(
                checked,
                on=on,
                workers=workers,
                out=out,
                data=data,
                address=address,
                retries=retries,
                watcher=watcher,
            )
    except KeyboardInterrupt:
        raise Stopped(f"stopped{_progress(watcher.cells)}; the same command goes on where it was") from None
    if as_json:
        typer.echo(json.dumps([_facts(cell) for cell in done.cells]))
    else:
        summed_up(done.cells, out, console)
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
