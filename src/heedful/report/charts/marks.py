"""What several charts are made of."""

from typing import Literal

import altair as alt

from heedful.report.charts.chart import DATA, Facts
from heedful.report.charts.theme import BRUSH, CLASSES, SHAPES

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


def class_colour(facts: Facts, *, legend: bool = True) -> alt.Color:
    """The decided class, in the order of the classes."""
    scale = alt.Scale(domain=list(facts.classes), range=list(CLASSES[: len(facts.classes)]))
    return alt.Color("decided:N", title="decided", scale=scale, legend=_legend() if legend else None)


def class_shape(facts: Facts) -> alt.Shape:
    """The same by shape, for those who see no colours."""
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
