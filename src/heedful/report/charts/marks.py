"""What several charts are made of."""

from typing import Any

import altair as alt

from heedful.report.charts.chart import DATA, Facts
from heedful.report.charts.theme import BRUSH, CLASSES, SHAPES

ROWS = alt.NamedData(DATA)


def brush(*encodings: str) -> alt.Parameter:
    """The selection that picks instances."""
    mark = alt.BrushConfig(fill=BRUSH, fillOpacity=0.25, stroke=BRUSH)
    return alt.selection_interval(name="brush", encodings=list(encodings), mark=mark)  # type: ignore[list-item]


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


def axis(field: str, title: str, domain: tuple[float, float] | None = None, **options: Any) -> alt.X:
    """A continuous x axis."""
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=True)
    return alt.X(f"{field}:Q", title=title, scale=scale, **options)


def upright(field: str, title: str, domain: tuple[float, float] | None = None, **options: Any) -> alt.Y:
    """A continuous y axis."""
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=True)
    return alt.Y(f"{field}:Q", title=title, scale=scale, **options)
