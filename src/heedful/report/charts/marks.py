"""Colours, axes and the theme that charts share."""

from typing import Any, Literal, NamedTuple

import altair as alt

from heedful.report.charts.chart import DATA, Facts

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first comes with vl-convert; the others are as wide
WIDTH = 420

PLAIN = "#0072b2"  # where classes are not distinguished
CLASSES = ("#0072b2", "#d98200", "#009378")
SHAPES = ("circle", "triangle-up", "square")
DASHES = ([1, 0], [7, 4], [2, 3])  # solid, dashed, dotted
BRUSH = "#888888"


class Look(NamedTuple):
    """Background, text and lines of a theme."""

    background: str
    text: str
    line: str  # of axes
    grid: str


LIGHT = Look("#ffffff", "#1a1a1a", "#666666", "#e2e2e2")
DARK = Look("#14161a", "#e6e6e6", "#9a9a9a", "#33373d")


def config(look: Look = LIGHT, *, width: int = WIDTH) -> dict[str, Any]:
    """The `config` that goes with any chart's specification."""
    words = {"labelColor": look.text, "titleColor": look.text, "labelFontSize": 11, "titleFontSize": 12}
    plain, lines = {"titleFontWeight": "normal"}, {"domainColor": look.line, "tickColor": look.line}
    return {
        "background": look.background,
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None, "continuousWidth": width, "continuousHeight": 240},
        "axis": {**words, **plain, **lines, "gridColor": look.grid, "titlePadding": 8},
        "header": {**words, **plain, "labelFontWeight": "bold", "labelLimit": width // 2},
        "legend": {**words, **plain, "labelLimit": width, "symbolStrokeWidth": 2},
        "title": {"color": look.text, "fontSize": 11, "fontWeight": "normal", "anchor": "start", "offset": 8},
        "rule": {"color": look.text},
        "tick": {"color": look.text},
        "text": {"color": look.text, "fontSize": 11},
    }


Range = tuple[float, float]
Fields = list[str | alt.FieldName]
ROWS = alt.NamedData(DATA)

# edges of a view
LEFT, RIGHT, TOP = alt.XValue(0), alt.XValue("width"), alt.YValue(0)  # type: ignore[no-untyped-call]


def brush(*encodings: Literal["x", "y"]) -> alt.Parameter:
    """The selection that picks instances."""
    mark = alt.BrushConfig(fill=BRUSH, fillOpacity=0.25, stroke=BRUSH)
    return alt.selection_interval(name="brush", encodings=list(encodings), mark=mark)


def defined(*columns: str) -> str:
    """A filter: only instances in which all of these figures are defined."""
    return " && ".join(f"isValid(datum.{column})" for column in columns)


def quartiles(column: str) -> dict[str, Any]:
    """The aggregates `q1`, `middle` and `q3` of a column."""
    return {"q1": f"q1({column})", "middle": f"median({column})", "q3": f"q3({column})"}


def quartile_tooltips() -> list[alt.Tooltip]:
    """What these are called."""
    names = {"q1": "first quartile", "middle": "median", "q3": "third quartile"}
    return [alt.Tooltip(f"{field}:Q", title=name, format=".3f") for field, name in names.items()]


def class_colour(facts: Facts, *, legend: bool = True) -> alt.Color:
    """The decided class, in the order of the classes."""
    scale = alt.Scale(domain=list(facts.classes), range=list(CLASSES[: len(facts.classes)]))
    return alt.Color("decided:N", title="decided", scale=scale, legend=_legend() if legend else None)


def class_shape(facts: Facts) -> alt.Shape:
    """The same by shape, for readers who cannot tell the colours apart."""
    scale = alt.Scale(domain=list(facts.classes), range=list(SHAPES[: len(facts.classes)]))
    return alt.Shape("decided:N", title="decided", scale=scale, legend=_legend())


def _legend() -> alt.Legend:
    return alt.Legend(orient="top", symbolOpacity=1, titleOrient="left")


def axis(field: str, title: str, domain: Range | None = None, *, ticks: float | None = None) -> alt.X:
    """A continuous x axis."""
    return alt.X(f"{field}:Q", title=title, scale=_scale(domain), axis=_marks(domain, ticks))


def upright(field: str, title: str, domain: Range | None = None, *, ticks: float | None = None) -> alt.Y:
    """A continuous y axis."""
    return alt.Y(f"{field}:Q", title=title, scale=_scale(domain), axis=_marks(domain, ticks))


def marked(domain: Range, ticks: float) -> list[float]:
    """Where an axis has marks."""
    return [round(domain[0] + ticks * index, 10) for index in range(round((domain[1] - domain[0]) / ticks) + 1)]


def _scale(domain: Range | None) -> alt.Scale:
    return alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=True)


def _marks(domain: Range | None, ticks: float | None) -> alt.Axis:
    return alt.Axis(values=marked(domain, ticks), format=".2~f") if domain and ticks else alt.Axis()
