"""Writes the site: pages, scripts, data, tables and figures, whole or not at all."""

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from vl_convert import javascript_bundle

from heedful.audits.card import card
from heedful.errors import BadConfig
from heedful.files import replaced
from heedful.findings.gathering import AuditedRun, Gathered
from heedful.findings.key_figures import KEYS
from heedful.findings.labels import labels
from heedful.privacy import owner_only
from heedful.progress import Reporter
from heedful.report.charts.render import compare_chart
from heedful.report.site.packing import write_data, write_file
from heedful.report.site.run_data import about_run, write_run_files
from heedful.report.tables import tables
from heedful.report.tables.formats import write_tables
from heedful.report.tables.paper import write_paper_tables
from heedful.report.tables.table import Table
from heedful.runs.directory import Run
from heedful.version import __version__

FORMATS = ("svg", "pdf", "png")
LATEX = ("ordinary", "paper")

_PAGE = "index.html"
_PARTS = {_PAGE, "assets", "data", "tables", "figures", "cards"}
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


def table_data(table: Table, keys: Sequence[str], *, only: int | None = None) -> dict[str, Any]:
    """Plain values; `keys` are what the site calls the table's runs, `only` is the position of one of them."""
    taken = [row for row, position in enumerate(table.positions) if only in (None, position)]
    formatted = table.formatted
    columns = [table.columns[index] for index in table.shown]
    return {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "columns": [{name: getattr(each, name) for name in ("key", "title", "kind", "meaning")} for each in columns],
        "rows": [[table.rows[row][index] for index in table.shown] for row in taken],
        "cells": [[formatted[row][index] for index in table.shown] for row in taken],
        "runs": [keys[table.positions[row]] for row in taken],
        "missing": list(table.missing) if only is None else [],
    }


class Site(NamedTuple):
    """What was written."""

    page: Path  # the file to open
    tables: list[Table]


def write_site(
    gathered: Gathered,
    out: Path,
    *,
    formats: Sequence[str] = FORMATS,
    latex: str = "ordinary",
    reporter: Reporter | None = None,
) -> Site:
    """Write the site of some runs; figures as files in the given formats, with the `paper`'s LaTeX tables if asked for.
    A report that was there is replaced.

    If only their owner can read one of the runs, the same holds for the site, which quotes its texts.
    """
    reporter = reporter or Reporter()
    bundle = _bundle()
    place = report_place(out, gathered.runs)
    runs, keys = gathered.runs, _keys(gathered.runs)
    place.parent.mkdir(parents=True, exist_ok=True)
    with owner_only(any(run.private for run in runs)), replaced(place) as folder:
        reporter.start("tables")
        found = tables(runs)
        write_tables(found, folder / "tables")
        if latex == "paper":
            write_paper_tables(runs, folder / "tables" / "paper")
        reporter.finish(f"{len(found)} of {len(runs)} runs")
        shown = []
        for position, (run, key, label) in enumerate(zip(runs, keys, labels(runs), strict=True)):
            reporter.start(", ".join(label))
            about = about_run(run, key, label)
            data = write_run_files(run, folder, key, reporter, formats=formats)
            about |= {name: data[name] for name in ("n", "texts")} | {"card": _card(run, folder, key)}
            shown.append(about)
            own = [table_data(table, keys, only=position) for table in found if position in table.positions]
            write_data(folder, f"{key}/run", {**about, **data, "tables": own})
            reporter.finish(f"{data['n']:,} instances")
        site = {
            "version": __version__,
            "runs": shown,
            "figures": [{name: getattr(key, name) for name in ("name", "title", "meaning", "kind")} for key in KEYS],
            "tables": [table_data(table, keys) for table in found],
            "compare_chart": compare_chart(),
            "refused": [{"folder": each.folder.name, "reason": each.reason} for each in gathered.refused],
        }
        write_data(folder, "site", site)
        _write_pages(folder, bundle)
        if report_place(out, runs) != place:  # once more: all this took time
            raise BadConfig(f"--out {out}: that is another place than it was at first; write the report again")
    return Site(out / _PAGE, found)


def _card(run: Run, folder: Path, key: str) -> str | None:
    """Write the printable card of an audit; its place in the site."""
    if not isinstance(run, AuditedRun):
        return None
    write_file(folder / "cards" / f"{key}.html", card(run.audit))
    return f"cards/{key}.html"


def _bundle() -> str:
    """The library that draws charts, from the installed package: nothing is downloaded, nothing of it is kept here."""
    bundle = javascript_bundle("window.vegaEmbed = vegaEmbed; window.vega = vega;")
    return f"(() => {{\n{bundle}\n}})();\n"  # its names are its own


def _keys(runs: Sequence[Run]) -> list[str]:
    """What runs are called in files and addresses: their folders' names, numbered where these are the same."""
    keys: list[str] = []
    for run in runs:
        name, number = run.folder.resolve().name, 1
        while (key := name if number == 1 else f"{name}-{number}") in keys:
            number += 1
        keys.append(key)
    return keys


def _write_pages(folder: Path, bundle: str) -> None:
    for asset in files("heedful.report.site").joinpath("assets").iterdir():
        place = folder if asset.name == _PAGE else folder / "assets"
        write_file(place / asset.name, asset.read_text(encoding="utf-8"))
    write_file(folder / "assets" / "vega.js", bundle)
