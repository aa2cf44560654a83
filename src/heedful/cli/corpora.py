"""`heedful corpora`: which corpora there are, which are available here, and how to get the others."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from heedful.corpora.registry import Entry


def corpora(
    name: Annotated[str | None, Argument(help="A corpus to describe, or `get`.")] = None,
    wanted: Annotated[str | None, Argument(help="After `get`: the corpus to download.")] = None,
    data: Annotated[Path | None, Option(help="Folder of corpora (default: HEEDFUL_DATA, then downloads).")] = None,
    address: Annotated[str | None, Option("--from", help="After `get`: a mirror to download from.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the corpora; with NAME, describe one; with `get NAME`, download a public one."""
    from heedful.corpora.registry import overview
    from heedful.errors import BadConfig, unknown_name

    if name == "get":
        _get(wanted, address)
        return
    if wanted is not None:
        raise BadConfig(f"corpora {name} {wanted}: to download a corpus write `heedful corpora get {name}`")
    entries = overview(data)
    if name is not None:
        entries = [entry for entry in entries if entry.name == name]
        if not entries:
            raise unknown_name("corpus", name, [entry.name for entry in overview(data)])
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in entries], default=str))
    elif name is not None:
        _describe(entries[0])
    else:
        _list(entries)


def _get(name: str | None, address: str | None) -> None:
    from heedful.cli.console import bars, console
    from heedful.corpora.download import get
    from heedful.errors import BadConfig

    if name is None:
        raise BadConfig("corpora get: name the corpus to download, e.g. `heedful corpora get sst`")
    with bars() as reporter:
        reporter.start(f"downloading {name}")
        found = get(
            name,
            address=address,
            progress=lambda done, total: reporter.reach(done, f"{done / 1e6:.1f} MB", total or None),
        )
        reporter.finish(found.checked)
    console.print(f"{name} is in {found.folder}", markup=False, soft_wrap=True)


def _list(entries: "list[Entry]") -> None:
    from rich.table import Table

    from heedful.cli.console import console

    table = Table(box=None, pad_edge=False)
    for column in ("corpus", "task", "instances (train / dev / test)", "available"):
        table.add_column(column)
    for entry in entries:
        table.add_row(entry.name, entry.task, entry.sizes, _availability(entry))
    console.print(table)
    console.print("\n`heedful corpora NAME` says where a corpus was found, or how to get it.")


def _describe(entry: "Entry") -> None:
    from rich.markup import escape

    from heedful.cli.console import console

    console.print(f"[bold]{entry.name}[/]: {escape(entry.task)}; {escape(entry.sizes)}", soft_wrap=True)
    place = f"found: {entry.found}{' (a subset: use --subset)' if entry.subset_only else ''}"
    console.print(escape(f"to get it: {entry.how_to_get}" if entry.found is None else place), soft_wrap=True)


def _availability(entry: "Entry") -> str:
    if entry.built_in:
        return "built in"
    if entry.found is not None:
        return "subset" if entry.subset_only else "yes"
    return "no; can be downloaded" if entry.downloadable else "no"
