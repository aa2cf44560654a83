"""`heedful report`: tables, figures and a site from finished runs."""

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def report(
    runs: Annotated[
        list[Path], Argument(help="Runs and audits: directories, folders of them, beginnings of names, or `latest`.")
    ],
    out: Annotated[Path, Option(help="Folder of the site; an existing report is replaced.")] = Path("site"),
    formats: Annotated[str, Option(help="File formats of figures: svg,pdf,png, or none.")] = "svg,pdf,png",
    latex: Annotated[
        str, Option(help="LaTeX tables: ordinary, or paper: also in the two papers' layouts, in tables/paper.")
    ] = "ordinary",
    as_json: Annotated[bool, Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    """Write tables, figures and a site that opens from disk, from finished runs and audits."""
    from heedful.audits.directory import OPTIONS
    from heedful.cli.console import bars, console, notices
    from heedful.errors import unknown_name
    from heedful.findings.gathering import gather, without_damaged
    from heedful.report.charts.render import require_libraries
    from heedful.runs.catalogue import RUNS, named_places

    require_libraries()
    from heedful.report.site.writer import FORMATS, LATEX, write_site
    from heedful.report.tables.formats import to_rich

    names = [] if formats == "none" else [name.strip() for name in formats.split(",")]
    for name in names:
        if name not in FORMATS:
            raise unknown_name("figure format", name, [*FORMATS, "none"])
    if latex not in LATEX:
        raise unknown_name("value of --latex", latex, LATEX)
    found = gather(named_places(runs, homes=[Path("audits")], marks={**RUNS, OPTIONS: "verdict"}))
    with bars(stopped="no report was written; an existing one is unchanged") as reporter:
        site, gathered = without_damaged(
            found, lambda chosen: write_site(chosen, out, formats=names, latex=latex, reporter=reporter)
        )
    for folder, reason in gathered.refused:
        notices.print(f"not shown: {folder.name}: {reason}", markup=False, soft_wrap=True)
    if as_json:
        typer.echo(json.dumps({"page": str(site.page), "tables": [table.to_json() for table in site.tables]}))
        return
    for table in site.tables:
        console.print(to_rich(table, width=console.width))
    console.print(f"written to {out}\nopen {site.page.resolve().as_uri()}", markup=False, soft_wrap=True)
