"""Do attention and importance order the items alike? (Jain & Wallace 2019, section 4.1)"""

import json
from collections.abc import Callable

import altair as alt

from heedful.report.charts.chart import Chart, Drawing, Facts
from heedful.report.charts.histogram import histogram
from heedful.report.charts.marks import ROWS, axis, defined
from heedful.report.charts.theme import CLASSES, DASHES

_PAIRS = {  # in the order, and with the dashes, of the released code
    "tau_leave_one_out": "attention and leave-one-out",
    "tau_gradient": "attention and gradient",
    "tau_between": "gradient and leave-one-out",
}
_BANDWIDTH = 0.05


def _tau(column: str, title: str) -> Callable[[Facts], Drawing]:
    return lambda facts: histogram(facts, column, title, extent=(-1, 1), bins=30, ticks=0.5)


def _densities(facts: Facts) -> Drawing:
    names, key = list(_PAIRS.values()), "between"
    legend = alt.Legend(orient="top", title=None, columns=1, symbolSize=400, symbolType="stroke", labelLimit=0)
    dash = alt.StrokeDash(f"{key}:N", sort=names, scale=alt.Scale(domain=names, range=list(DASHES)), legend=legend)
    colour = alt.Color(f"{key}:N", sort=names, scale=alt.Scale(domain=names, range=list(CLASSES)), legend=legend)
    drawn: Drawing = (
        alt.Chart(ROWS)
        .transform_fold(list(_PAIRS), as_=["pair", "tau"])
        .transform_filter(defined("tau"))
        .transform_calculate(between=f"{json.dumps(_PAIRS)}[datum.pair]")
        .transform_density(
            "tau", groupby=[key], as_=["tau", "density"], extent=[-1, 1], bandwidth=_BANDWIDTH, steps=200
        )
        .mark_line(strokeWidth=2)
        .encode(
            x=axis("tau", "Kendall's τ", (-1, 1), ticks=0.5),
            y=alt.Y(
                "density:Q",
                title="density",
                axis=alt.Axis(tickCount=4),
                scale=alt.Scale(domain=alt.DomainUnionWith(unionWith=[0, 1])),  # also where there is nothing
            ),
            color=colour,
            strokeDash=dash,
            tooltip=[
                alt.Tooltip(f"{key}:N"),
                alt.Tooltip("tau:Q", title="τ", format=".2f"),
                alt.Tooltip("density:Q", format=".2f"),
            ],
        )
        .properties(height=220)
    )
    return drawn


TAU_GRADIENT = Chart(
    name="tau-gradient",
    title="Attention and gradient",
    caption="Kendall's tau of attention and gradient; the dashed line is the mean. Jain & Wallace 2019, Figure 2.",
    columns=("tau_gradient",),
    build=_tau("tau_gradient", "Kendall's τ of attention and gradient"),
    brush=("tau_gradient",),
)
TAU_LEAVE_ONE_OUT = Chart(
    name="tau-leave-one-out",
    title="Attention and leave-one-out",
    caption="Kendall's tau of attention and leave-one-out; the dashed line is the mean. As Figure 2 "
    "of Jain & Wallace 2019, which is of gradients.",
    columns=("tau_leave_one_out",),
    build=_tau("tau_leave_one_out", "Kendall's τ of attention and leave-one-out"),
    brush=("tau_leave_one_out",),
)
TAU_DENSITIES = Chart(
    name="tau-densities",
    title="Do two measures of importance agree better?",
    caption="Kendall's tau of attention with either measure of importance, and of the two measures with each other, "
    f"over all classes (Gaussian kernel of width {_BANDWIDTH}). Jain & Wallace 2019, section 4.1.",
    columns=tuple(_PAIRS),
    build=_densities,
)
