"""Scatter plots: one point an instance."""

import altair as alt

from heedful.report.charts.chart import Facts
from heedful.report.charts.marks import ROWS, axis, brush, class_colour, class_shape, defined, upright
from heedful.report.charts.theme import PLAIN
from heedful.report.rows import COLUMNS

POINTS = 5000  # more are not told apart, and make files slow

Range = tuple[float, float]


def scatter(
    facts: Facts, x: str, y: str, *, domains: tuple[Range | None, Range | None] = (None, None), classes: bool = False
) -> alt.Chart:
    """Points, told apart by class if that is asked for and classes are few."""
    points = (
        alt.Chart(ROWS)
        .transform_filter(defined(x, y))
        .mark_point(color=PLAIN, opacity=0.5, size=18, strokeWidth=1.2, clip=True, aria=False)
        .encode(
            x=axis(x, titled(x), domains[0]),
            y=upright(y, titled(y), domains[1]),
            tooltip=[
                alt.Tooltip("id:N", title="instance"),
                alt.Tooltip("decided:N"),
                *(alt.Tooltip(f"{column}:Q", title=titled(column), format=".3f") for column in (x, y)),
            ],
        )
        .add_params(brush("x", "y"))
        .properties(height=280)
    )
    return points.encode(color=class_colour(facts), shape=class_shape(facts)) if classes and facts.grouped else points


def line(**ends: float) -> alt.Chart:
    """A straight line to compare with, by its ends x, y, x2, y2; across the view where one is not given."""
    once = alt.Data(values=[{}])  # type: ignore[arg-type]
    encoded = {end: alt.datum(value) for end, value in ends.items()}
    return alt.Chart(once).mark_rule(strokeDash=[4, 3], clip=True, aria=False).encode(**encoded)


def titled(column: str) -> str:
    """What an axis is called."""
    return COLUMNS[column].title
