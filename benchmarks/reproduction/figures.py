"""The papers' figures as SVG, two models of a corpus side by side."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.reproduction.markdown import table
from benchmarks.reproduction.reading import corpus_name, model_name
from heedful.report.charts import CHARTS, Facts
from heedful.report.charts.data import chart_rows
from heedful.report.charts.render import render
from heedful.runs.directory import Run

IMAGES = Path("images") / "reproduction"


def drawn(runs: Sequence[Run], names: Sequence[str], out: Path) -> str:
    """A row a corpus and figure, a column a model."""
    models = list(dict.fromkeys(map(model_name, runs)))
    rows: dict[str, dict[str, str]] = {}
    for run in runs:
        for name in names:
            chart = CHARTS[name]
            if chart.missing(run) is None:
                stem = IMAGES / f"{run.config.corpus}-{run.config.encoder}-{name}"
                render(chart.spec(Facts.of(run)), chart_rows(run, chart), out / stem, formats=["svg"])
                said = corpus_name(run) if len(names) == 1 else chart.title
                shown = f"![{chart.title}: {corpus_name(run)}, {model_name(run)}]({stem.as_posix()}.svg)"
                rows.setdefault(said, {})[model_name(run)] = shown
    return table(["", *models], ([said, *(row.get(name, "") for name in models)] for said, row in rows.items()))
