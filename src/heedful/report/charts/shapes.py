"""The shapes of charts: histograms, scatter plots and violins, by class where classes are few."""

from typing import NamedTuple

import altair as alt

from heedful.report.charts import marks
from heedful.report.charts.chart import Drawing, Facts


def histogram(
    facts: Facts,
    column: str,
    title: str,
    *,
    extent: tuple[float, float],
    bins: int,
    ticks: float,
    only: str | None = None,  # a condition on the rows that are counted
) -> Drawing:
    """Bars (shares of each class's instances), the mean as a line, and mean and number of instances as text."""
    cut = alt.Bin(extent=list(extent), step=(extent[1] - extent[0]) / bins, nice=False)
    counted = marks.defined(column) if only is None else f"{marks.defined(column)} && {only}"
    groups: marks.Fields = ["decided"] if facts.grouped else []
    x = alt.X(
        f"{column}:Q",
        bin=cut,
        title=title,
        scale=alt.Scale(domain=list(extent), nice=False),
        axis=alt.Axis(values=marks.marked(extent, ticks), grid=False, format=".2~f"),
    )
    bars = (
        alt.Chart()
        .transform_filter(counted)
        .transform_joinaggregate(total="count()", groupby=groups)
        .transform_calculate(share="1 / datum.total")
        .mark_bar(color=marks.PLAIN)
        .encode(
            x=x,
            y=alt.Y(
                "sum(share):Q",
                title="share",
                axis=alt.Axis(format="%", tickCount=3),
                scale=alt.Scale(domain=alt.DomainUnionWith(unionWith=[0, 0.05])),  # also where there is nothing
            ),
            tooltip=[
                alt.Tooltip(f"{column}:Q", bin=cut, title=title, format=".3~f"),
                alt.Tooltip("count():Q", title="instances"),
                alt.Tooltip("sum(share):Q", title="share", format=".1%"),
            ],
        )
        .add_params(marks.brush("x"))
    )
    if facts.grouped:
        bars = bars.encode(color=marks.class_colour(facts, legend=False))
    mean = (
        alt.Chart()
        .transform_filter(counted)
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x=alt.X(f"mean({column}):Q"), tooltip=[alt.Tooltip(f"mean({column}):Q", title="mean", format=".3f")])
    )
    words = _words(column, counted, groups, every=only is None)
    right = words.mark_text(align="right", baseline="bottom", dy=-4).encode(
        x=marks.RIGHT, y=marks.TOP, text=alt.Text("words:N")
    )
    if not facts.grouped:
        return alt.layer(bars, mean, right, data=marks.ROWS).properties(height=200)
    left = words.mark_text(align="left", baseline="bottom", dy=-4, fontWeight="bold", limit=marks.WIDTH // 2).encode(
        x=marks.LEFT, y=marks.TOP, text=alt.Text("decided:N")
    )
    row = alt.Row("decided:N", sort=list(facts.classes), header=None)
    return alt.layer(bars, mean, left, right, data=marks.ROWS).properties(height=96).facet(row=row, spacing=34)


def _words(column: str, counted: str, groups: marks.Fields, *, every: bool) -> alt.Chart:
    """Mean and counts as text; instances in which the figure is undefined are counted, not drawn."""
    return (
        alt.Chart()
        .transform_calculate(shown=f"{counted} ? datum.{column} : null")
        .transform_aggregate(
            mean="mean(shown)", n="valid(shown)", valid=f"valid({column})", all="count()", groupby=groups
        )
        .transform_calculate(
            words="(datum.n ? 'mean ' + format(datum.mean, '.2f') + ', ' : '') + format(datum.n, ',') "
            + ("" if every else "+ ' of ' + format(datum.valid, ',') ")
            + "+ (datum.n == 1 ? ' instance' : ' instances') "
            "+ (datum.valid < datum.all ? ', undefined in ' + format(datum.all - datum.valid, ',') : '')"
        )
    )


POINTS = 5000  # more cannot be distinguished, and make files slow


class Side(NamedTuple):
    """One axis of a scatter plot."""

    column: str
    title: str
    domain: marks.Range | None = None
    ticks: float | None = None


def scatter(facts: Facts, x: Side, y: Side, *, classes: bool = False) -> alt.Chart:
    """Points, coloured by class if `classes` and classes are few."""
    points: alt.Chart = (
        alt.Chart(marks.ROWS)
        .transform_filter(marks.defined(x.column, y.column))
        .mark_point(color=marks.PLAIN, opacity=0.65, size=18, strokeWidth=1.2, aria=False)
        .encode(
            x=marks.axis(x.column, x.title, x.domain, ticks=x.ticks),
            y=marks.upright(y.column, y.title, y.domain, ticks=y.ticks),
            tooltip=[
                alt.Tooltip("id:N", title="instance"),
                alt.Tooltip("decided:N"),
                *(alt.Tooltip(f"{side.column}:Q", title=side.title, format=".3f") for side in (x, y)),
            ],
        )
        .add_params(marks.brush("x", "y"))
        .properties(height=280)
    )
    if classes and facts.grouped:
        points = points.encode(color=marks.class_colour(facts), shape=marks.class_shape(facts))
    return points


def line(**ends: float) -> alt.Chart:
    """A reference line by its ends x, y, x2, y2; across the view where one is missing."""
    once = alt.sequence(0, 1)
    kinds = {"x": alt.XDatum, "y": alt.YDatum, "x2": alt.X2Datum, "y2": alt.Y2Datum}
    encoded = {end: kinds[end](value) for end, value in ends.items()}
    drawn: alt.Chart = alt.Chart(once).mark_rule(strokeDash=[4, 3], clip=True, aria=False).encode(**encoded)
    return drawn


_BANDS = 4  # of max attention, as in the paper


def violins(facts: Facts, column: str, title: str, *, extent: tuple[float, float], bandwidth: float) -> Drawing:
    """Horizontal violins in four bands of max attention, class below class; lines at the quartiles. One bandwidth for
    all: one chosen by a group's spread would be zero for a single instance or equal values."""
    lanes = len(facts.classes) if facts.grouped else 1
    half = 0.45 / (_BANDS * lanes)  # of a violin's greatest height
    position = "datum.decision" if facts.grouped else "0"
    colour = marks.class_colour(facts) if facts.grouped else alt.ColorValue(marks.PLAIN)
    carried: marks.Fields = ["lane", *(["decided"] if facts.grouped else []), "q1", "middle", "q3", "n"]
    shape = (
        alt.Chart()
        .transform_density(
            column,
            as_=[column, "density"],
            groupby=carried,
            extent=list(extent),
            bandwidth=bandwidth,
            steps=round(4 * (extent[1] - extent[0]) / bandwidth),
        )
        .transform_joinaggregate(peak="max(density)", groupby=["lane"])
        .transform_calculate(
            low=f"datum.lane - {half} * datum.density / datum.peak",
            high=f"datum.lane + {half} * datum.density / datum.peak",
        )
        .mark_area(fillOpacity=0.65, strokeWidth=0)
        .encode(
            x=marks.axis(column, title, extent, ticks=0.1),
            y=_attention("low"),
            y2=alt.Y2("high:Q"),
            detail=alt.Detail("lane:Q"),
            color=colour,
            tooltip=[
                *([alt.Tooltip("decided:N")] if facts.grouped else []),
                alt.Tooltip("n:Q", title="instances", format=","),
                *marks.quartile_tooltips(),
            ],
        )
        .add_params(marks.brush("x"))
    )
    numbers = alt.Chart().transform_aggregate(**marks.quartiles(column), n="count()", groupby=["lane"])
    lines = [
        numbers.transform_calculate(low=f"datum.lane - {height}", high=f"datum.lane + {height}")
        .mark_rule(strokeWidth=width, clip=True)
        .encode(x=marks.axis(quartile, title, extent, ticks=0.1), y=_attention("low"), y2=alt.Y2("high:Q"))
        for quartile, height, width in (("q1", half / 2, 1.0), ("middle", half, 2.0), ("q3", half / 2, 1.0))
    ]
    counts = (
        numbers.transform_calculate(words="'n = ' + format(datum.n, ',')")
        .mark_text(align="left", dx=6, fontSize=10)
        .encode(x=marks.RIGHT, y=_attention("lane"), text=alt.Text("words:N"))
    )
    return (
        alt.layer(shape, *lines, counts, data=marks.ROWS)
        .transform_filter(marks.defined(column, "max_attention"))
        .transform_calculate(
            lane=f"min({_BANDS - 1}, floor({_BANDS} * datum.max_attention)) / {_BANDS} "
            f"+ ({lanes} - {position} - 0.5) / {_BANDS * lanes}"
        )
        .transform_joinaggregate(**marks.quartiles(column), n="count()", groupby=["lane"])
        .properties(height=300 if lanes > 1 else 240)
    )


def _attention(field: str) -> alt.Y:
    return marks.upright(field, "max attention", (0, 1), ticks=1 / _BANDS)
