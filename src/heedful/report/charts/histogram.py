"""Histograms: how a figure is distributed, class below class where classes are few, each in shares of its own
instances."""

import altair as alt

from heedful.report.charts.chart import Drawing, Facts
from heedful.report.charts.marks import LEFT, RIGHT, ROWS, TOP, Fields, brush, class_colour, defined, marked
from heedful.report.charts.theme import PLAIN, WIDTH


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
    """Bars with the mean as a line, and its value and the number of instances in words."""
    cut = alt.Bin(extent=list(extent), step=(extent[1] - extent[0]) / bins, nice=False)
    counted = defined(column) if only is None else f"{defined(column)} && {only}"
    groups: Fields = ["decided"] if facts.grouped else []
    x = alt.X(
        f"{column}:Q",
        bin=cut,
        title=title,
        scale=alt.Scale(domain=list(extent), nice=False),
        axis=alt.Axis(values=marked(extent, ticks), grid=False, format=".2~f"),
    )
    bars = (
        alt.Chart()
        .transform_filter(counted)
        .transform_joinaggregate(total="count()", groupby=groups)
        .transform_calculate(share="1 / datum.total")
        .mark_bar(color=PLAIN)
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
        .add_params(brush("x"))
    )
    if facts.grouped:
        bars = bars.encode(color=class_colour(facts, legend=False))
    mean = (
        alt.Chart()
        .transform_filter(counted)
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x=alt.X(f"mean({column}):Q"), tooltip=[alt.Tooltip(f"mean({column}):Q", title="mean", format=".3f")])
    )
    words = _words(column, groups, only)
    right = words.mark_text(align="right", baseline="bottom", dy=-4).encode(x=RIGHT, y=TOP, text=alt.Text("words:N"))
    if not facts.grouped:
        return alt.layer(bars, mean, right, data=ROWS).properties(height=200)
    left = words.mark_text(align="left", baseline="bottom", dy=-4, fontWeight="bold", limit=WIDTH // 2).encode(
        x=LEFT, y=TOP, text=alt.Text("decided:N")
    )
    row = alt.Row("decided:N", sort=list(facts.classes), header=None)
    return alt.layer(bars, mean, left, right, data=ROWS).properties(height=96).facet(row=row, spacing=34)


def _words(column: str, groups: Fields, only: str | None) -> alt.Chart:
    """Mean and numbers of a histogram; instances in which the figure is undefined are told, not drawn."""
    counted = defined(column) if only is None else f"{defined(column)} && {only}"
    return (
        alt.Chart()
        .transform_calculate(shown=f"{counted} ? datum.{column} : null")
        .transform_aggregate(
            mean="mean(shown)", n="valid(shown)", valid=f"valid({column})", all="count()", groupby=groups
        )
        .transform_calculate(
            words="(datum.n ? 'mean ' + format(datum.mean, '.2f') + ', ' : '') + format(datum.n, ',') "
            + ("" if only is None else "+ ' of ' + format(datum.valid, ',') ")
            + "+ (datum.n == 1 ? ' instance' : ' instances') "
            "+ (datum.valid < datum.all ? ', undefined in ' + format(datum.all - datum.valid, ',') : '')"
        )
    )
