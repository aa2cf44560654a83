"""Writes the site: pages, scripts, data, tables and figures, whole or not at all."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from vl_convert import javascript_bundle

from heedful import __version__
from heedful.files import replaced
from heedful.report.charts.compare import compare_chart
from heedful.report.gathering import Gathered
from heedful.report.key_figures import KEYS
from heedful.report.labels import labels
from heedful.report.site.about import about_run
from heedful.report.site.chart_data import write_charts, write_instances
from heedful.report.site.packing import write_data, write_file
from heedful.report.site.place import report_place
from heedful.report.site.run_data import write_run
from heedful.report.site.table_data import table_data
from heedful.report.tables import Table, tables
from heedful.report.tables.formats import write_tables
from heedful.runs.directory import Run
from heedful.runs.reporter import Reporter

FORMATS = ("svg", "pdf", "png")

_PAGE = "index.html"


class Site(NamedTuple):
    """What was written."""

    page: Path  # the file to open
    tables: list[Table]


def write_site(
    gathered: Gathered, out: Path, *, formats: Sequence[str] = FORMATS, reporter: Reporter | None = None
) -> Site:
    """Write the site of some runs; figures as files in the given formats. A report that was there is replaced."""
    reporter = reporter or Reporter()
    bundle = _bundle()
    place = report_place(out, gathered.runs)
    runs, keys = gathered.runs, _keys(gathered.runs)
    with replaced(place) as folder:
        reporter.start("tables")
        found = tables(runs)
        write_tables(found, folder / "tables")
        reporter.finish(f"{len(found)} of {len(runs)} runs")
        shown = []
        for position, (run, key, label) in enumerate(zip(runs, keys, labels(runs), strict=True)):
            reporter.start(", ".join(label))
            about = about_run(run, key, label)
            data = write_run(run, folder, key, reporter)
            about |= {name: data[name] for name in ("n", "texts")}
            shown.append(about)
            own = [table_data(table, keys, only=position) for table in found]
            details = {
                "tables": [table for table in own if table["rows"]],
                "charts": write_charts(run, folder, key, formats=formats),
                "gallery": write_instances(run, folder, key, formats=formats),
            }
            write_data(folder, f"{key}/run", {**about, **data, **details})
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
    return Site(out / _PAGE, found)


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
