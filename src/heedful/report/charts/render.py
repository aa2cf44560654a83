"""Charts as files: SVG, PDF and PNG."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import vl_convert

from heedful.errors import unknown_name
from heedful.files import atomic
from heedful.report.charts.chart import DATA
from heedful.report.charts.theme import config

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
    """A chart as SVG, the same whatever was drawn before."""
    whole = {**spec, "datasets": {DATA: list(rows)}}
    return _renumbered(vl_convert.vegalite_to_svg(whole, config=dict(theme or config()), allowed_base_urls=[]))


def write_drawing(svg: str, stem: Path, format: str) -> Path:
    """Write one format of what is drawn."""
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
