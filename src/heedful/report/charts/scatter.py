"""Scatter plots: one point an instance."""

from typing import NamedTuple

import altair as alt

from heedful.report.charts.chart import Facts
from heedful.report.charts.marks import ROWS, Range, axis, brush, class_colour, class_shape, defined, upright
from heedful.report.charts.theme import PLAIN

POINTS = 5000  # more are not told apart, and make files slow


class Side(NamedTuple):
    """What an axis shows."""

    column: str
    title: str
    domain: Range | None = None
    ticks: float | None = None


def scatter(facts: Facts, x: Side, y: Side, *, classes: bool = False) -> alt.Chart:
    """Points, told apart by class if that is asked for and classes are few."""
    points: alt.Chart = (
        alt.Chart(ROWS)
        .transform_filter(defined(x.column, y.column))
        .mark_point(color=PLAIN, opacity=0.65, size=18, strokeWidth=1.2, aria=False)
        .encode(
            x=axis(x.column, x.title, x.domain, ticks=x.ticks),
            y=upright(y.column, y.title, y.domain, ticks=y.ticks),
            tooltip=[
                alt.Tooltip("id:N", title="instance"),
                alt.Tooltip("decided:N"),
                *(alt.Tooltip(f"{side.column}:Q", title=side.title, format=".3f") for side in (x, y)),
            ],
        )
        .add_params(brush("x", "y"))
        .properties(height=280)
    )
    if classes and facts.grouped:
        points = points.encode(color=class_colour(facts), shape=class_shape(facts))
    return points


def line(**ends: float) -> alt.Chart:
    """A straight line to compare with, by its ends x, y, x2, y2; across the view where one is not given."""
    once = alt.sequence(0, 1)
    kinds = {"x": alt.XDatum, "y": alt.YDatum, "x2": alt.X2Datum, "y2": alt.Y2Datum}
    encoded = {end: kinds[end](value) for end, value in ends.items()}
    drawn: alt.Chart = alt.Chart(once).mark_rule(strokeDash=[4, 3], clip=True, aria=False).encode(**encoded)
    return drawn
