"""Histograms: how a figure is distributed, class below class where classes are few, each in shares of its own
instances."""

import altair as alt

from heedful.report.charts.chart import Drawing, Facts
from heedful.report.charts.marks import ROWS, brush, class_colour, defined
from heedful.report.charts.theme import PLAIN


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
    groups = ["decided"] if facts.grouped else []
    marks = [round(extent[0] + ticks * index, 10) for index in range(round((extent[1] - extent[0]) / ticks) + 1)]
    x = alt.X(
        f"{column}:Q",
        bin=cut,
        title=title,
        scale=alt.Scale(domain=list(extent), nice=False),
        axis=alt.Axis(values=marks, grid=False, format="~g"),
    )
    bars = (
        alt.Chart()
        .transform_filter(counted)
        .transform_joinaggregate(total="count()", groupby=groups)
        .transform_calculate(share="1 / datum.total")
        .mark_bar(color=PLAIN)
        .encode(
            x=x,
            y=alt.Y("sum(share):Q", title="share", axis=alt.Axis(format="%", tickCount=3)),
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
    drawn = alt.layer(bars, mean, _words(column, groups, only), data=ROWS)
    if not facts.grouped:
        return drawn.properties(height=200)
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=4)
    return drawn.properties(height=96).facet(
        row=alt.Row("decided:N", sort=list(facts.classes), header=header), spacing=26
    )


def _words(column: str, groups: list[str], only: str | None) -> alt.Chart:
    """Mean and numbers above a histogram; instances in which the figure is undefined are told, not drawn."""
    counted = f"{defined(column)} ? {'true' if only is None else only} : false"
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
        .mark_text(align="right", baseline="bottom", dy=-4)
        .encode(x=alt.value("width"), y=alt.value(0), text="words:N")
    )
