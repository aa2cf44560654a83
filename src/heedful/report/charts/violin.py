"""Violins: how a figure is distributed where attention is flat, and where it is peaked."""

import altair as alt

from heedful.report.charts.chart import Drawing, Facts
from heedful.report.charts.marks import RIGHT, ROWS, Fields, axis, brush, class_colour, defined, upright
from heedful.report.charts.theme import PLAIN

_BANDS = 4  # of max attention, as in the paper


def violins(facts: Facts, column: str, title: str, *, extent: tuple[float, float], bandwidth: float) -> Drawing:
    """Lying violins of a figure in four bands of max attention, class below class; lines at the quartiles.

    One bandwidth for all: what a group's own spread would suggest is nothing for one instance or for equal ones.
    """
    lanes = len(facts.classes) if facts.grouped else 1
    half = 0.45 / (_BANDS * lanes)  # of a violin's greatest height
    position = "datum.decision" if facts.grouped else "0"
    colour = class_colour(facts) if facts.grouped else alt.ColorValue(PLAIN)
    carried: Fields = ["lane", *(["decided"] if facts.grouped else []), "q1", "middle", "q3", "n"]
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
            x=axis(column, title, extent, ticks=0.1),
            y=_attention("low"),
            y2=alt.Y2("high:Q"),
            detail=alt.Detail("lane:Q"),
            color=colour,
            tooltip=[
                *([alt.Tooltip("decided:N")] if facts.grouped else []),
                alt.Tooltip("n:Q", title="instances", format=","),
                alt.Tooltip("q1:Q", title="first quartile", format=".3f"),
                alt.Tooltip("middle:Q", title="median", format=".3f"),
                alt.Tooltip("q3:Q", title="third quartile", format=".3f"),
            ],
        )
        .add_params(brush("x"))
    )
    numbers = alt.Chart().transform_aggregate(
        q1=f"q1({column})", middle=f"median({column})", q3=f"q3({column})", n="count()", groupby=["lane"]
    )
    lines = [
        numbers.transform_calculate(low=f"datum.lane - {height}", high=f"datum.lane + {height}")
        .mark_rule(strokeWidth=width, clip=True)
        .encode(x=axis(quartile, title, extent, ticks=0.1), y=_attention("low"), y2=alt.Y2("high:Q"))
        for quartile, height, width in (("q1", half / 2, 1.0), ("middle", half, 2.0), ("q3", half / 2, 1.0))
    ]
    counts = (
        numbers.transform_calculate(words="'n = ' + format(datum.n, ',')")
        .mark_text(align="left", dx=6, fontSize=10)
        .encode(x=RIGHT, y=_attention("lane"), text=alt.Text("words:N"))
    )
    return (
        alt.layer(shape, *lines, counts, data=ROWS)
        .transform_filter(defined(column, "max_attention"))
        .transform_calculate(
            lane=f"min({_BANDS - 1}, floor({_BANDS} * datum.max_attention)) / {_BANDS} "
            f"+ ({lanes} - {position} - 0.5) / {_BANDS * lanes}"
        )
        .transform_joinaggregate(
            q1=f"q1({column})", middle=f"median({column})", q3=f"q3({column})", n="count()", groupby=["lane"]
        )
        .properties(height=300 if lanes > 1 else 240)
    )


def _attention(field: str) -> alt.Y:
    return upright(field, "max attention", (0, 1), ticks=1 / _BANDS)
