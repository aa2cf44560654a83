"""Charts as files: SVG, PDF and PNG."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from heedful.errors import MissingExtra, unknown_name
from heedful.files import atomic
from heedful.report.charts.chart import DATA
from heedful.report.charts.marks import PLAIN, ROWS, brush, config
from heedful.report.charts.shapes import POINTS


def compare_chart() -> dict[str, Any]:
    """The chart in plain values; the page fills in the rows `id`, `a` and `b`, and what the axes are called."""
    points = (
        alt.Chart(ROWS)
        .mark_point(color=PLAIN, opacity=0.65, size=18, strokeWidth=1.2, aria=False)
        .encode(
            x=alt.X("a:Q", title="A", scale=alt.Scale(zero=False)),
            y=alt.Y("b:Q", title="B", scale=alt.Scale(zero=False)),
            tooltip=[alt.Tooltip("id:N", title="instance"), "a:Q", "b:Q"],
        )
        .add_params(brush("x", "y"))
        .properties(height=320)
    )
    return {
        "name": "compare",
        "title": "The same instances in both runs",
        "caption": "Each point is an instance; on the diagonal both runs agree.",
        "brush": ["a", "b"],
        "points": POINTS,
        "spec": points.to_dict(),
    }


FORMATS = ("svg", "pdf", "png")
_SCALE = 2  # pixels of a PNG for each of the drawing's


def render(
    spec: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], stem: Path, *, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Write a chart in each format, `<stem>.<format>`, whole or not at all."""
    svg = to_svg(spec, rows)
    return [write_drawing(svg, stem, format) for format in formats]


def to_svg(
    spec: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], *, theme: Mapping[str, Any] | None = None
) -> str:
    """A chart as SVG, independent of what was drawn before."""
    whole = {**spec, "datasets": {DATA: list(rows)}}
    return _renumbered(vl_convert.vegalite_to_svg(whole, config=dict(theme or config()), allowed_base_urls=[]))


def write_drawing(svg: str, stem: Path, format: str) -> Path:
    """Write a drawing in one format."""
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    path = stem.with_name(f"{stem.name}.{format}")
    with atomic(path) as temporary:
        temporary.write_bytes(_WRITERS[format](svg))
    return path


_WRITERS: dict[str, Callable[[str], bytes]] = {
    "svg": str.encode,
    "pdf": vl_convert.svg_to_pdf,
    "png": lambda svg: vl_convert.svg_to_png(svg, scale=_SCALE),
}


def _renumbered(svg: str) -> str:
    """Vega counts clipping paths through all charts of a process; here each chart counts from zero."""
    numbers: dict[str, int] = {}
    return re.sub(
        r"\b(clip|gradient_)(\d+)\b", lambda found: found[1] + str(numbers.setdefault(found[0], len(numbers))), svg
    )


def require_libraries() -> None:
    """Raise if a library is missing, and say how to get it."""
    for module, library in (("altair", "altair"), ("vl_convert", "vl-convert-python")):
        if find_spec(module) is None:
            raise MissingExtra(library, "report", "a report")
