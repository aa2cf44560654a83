"""The charts and the gallery of a run for the site: what pages draw, and the files that papers take."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful.report.charts import CHARTS, Facts
from heedful.report.charts.data import run_rows, select
from heedful.report.charts.render import render
from heedful.report.gallery import write_gallery
from heedful.runs.directory import Run


def write_charts(run: Run, site: Path, key: str, *, formats: Sequence[str]) -> list[dict[str, Any]]:
    """Draw the charts of a run into files; what its page is to know of them. One that is missing says why."""
    facts, missing = Facts.of(run), {name: chart.missing(run) for name, chart in CHARTS.items()}
    rows = run_rows(run, [chart for name, chart in CHARTS.items() if missing[name] is None])
    known = []
    for name, chart in CHARTS.items():
        about: dict[str, Any] = {"name": name, "title": chart.title, "caption": chart.caption, "missing": missing[name]}
        if missing[name] is None:
            spec = chart.spec(facts)
            files = render(spec, select(rows, chart), site / "figures" / key / name, formats=formats)
            about |= {
                "spec": spec,
                "columns": [column for column in (*chart.columns, *chart.optional) if column in rows.columns],
                "brush": chart.brush and list(chart.brush),
                "within": {column: [low, high] for column, low, high in chart.within},
                "points": chart.points,
                "files": [file.relative_to(site).as_posix() for file in files],
            }
        known.append(about)
    return known


def write_instances(run: Run, site: Path, key: str, *, formats: Sequence[str]) -> list[dict[str, Any]]:
    """Draw the gallery of a run into files; the instances in it. None without adversarial attention."""
    if not run.done("adversary"):
        return []
    shown = write_gallery(run, site / "figures" / key / "gallery", formats=(*formats, "tex") if formats else ())
    return [
        {
            "id": chosen.id,
            "index": chosen.index,
            "why": chosen.why,
            "files": [file.relative_to(site).as_posix() for file in files],
        }
        for chosen, files in shown.items()
    ]
