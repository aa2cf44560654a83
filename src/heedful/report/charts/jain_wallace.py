"""Figures 2 to 5 of Jain & Wallace 2019: rank correlation, permutation and adversarial attention."""

import json
from collections.abc import Callable

import altair as alt

from heedful.report.charts.chart import Chart, Drawing, Facts
from heedful.report.charts.marks import CLASSES, DASHES, ROWS, axis, defined
from heedful.report.charts.shapes import POINTS, Side, histogram, line, scatter, violins

_EXTENT = (0.0, 0.7)  # ln 2 = 0.693 is the greatest there is
_ADVERSARY_TITLE = "ε-max JSD of attention"


def _search(facts: Facts) -> Drawing:
    diagonal = line(x=0, y=0, x2=_EXTENT[1], y2=_EXTENT[1])
    exact, found = (
        Side("jsd", "JSD, exact", _EXTENT, 0.1),
        Side("jsd_search", "JSD, found by search", _EXTENT, 0.1),
    )
    return alt.layer(diagonal, scatter(facts, exact, found))


ADVERSARY_HISTOGRAM = Chart(
    name="adversary-histogram",
    title="How different attention could have been",
    caption="How different attention can be from the model's (JSD, at most 0.69) while the output moves by at most ε. "
    "Dashed line: mean. Jain & Wallace 2019, Figure 4.",
    columns=("jsd",),
    build=lambda facts: histogram(
        facts, "jsd", f"{_ADVERSARY_TITLE} (ε = {facts.epsilon:g})", extent=_EXTENT, bins=40, ticks=0.1
    ),
    brush=("jsd",),
)
ADVERSARY_DENSITIES = Chart(
    name="adversary-densities",
    title="How different peaked attention could have been",
    caption="How different attention can be from the model's while the output moves by at most ε, in four bands of max "
    "attention. Lines: medians and quartiles. Jain & Wallace 2019, Figure 5.",
    columns=("jsd", "max_attention", "decision"),
    build=lambda facts: violins(
        facts, "jsd", f"{_ADVERSARY_TITLE} (ε = {facts.epsilon:g})", extent=_EXTENT, bandwidth=0.015
    ),
    brush=("jsd",),
)
ADVERSARY_SEARCH = Chart(
    name="adversary-search",
    title="The exact adversary and the paper's search",
    caption="Each point is an instance: the JSD of the exact adversary, and the JSD that the search of Jain & Wallace "
    "2019 finds. On the dashed line the search finds the optimum.",
    columns=("jsd", "jsd_search"),
    build=_search,
    brush=("jsd", "jsd_search"),
    points=POINTS,
)


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
    caption="Kendall's tau of attention and gradient. Dashed line: mean. Jain & Wallace 2019, Figure 2.",
    columns=("tau_gradient",),
    build=_tau("tau_gradient", "Kendall's τ of attention and gradient"),
    brush=("tau_gradient",),
)
TAU_LEAVE_ONE_OUT = Chart(
    name="tau-leave-one-out",
    title="Attention and leave-one-out",
    caption="Kendall's tau of attention and leave-one-out. Dashed line: mean. Like Figure 2 of Jain & Wallace 2019, "
    "which shows gradients.",
    columns=("tau_leave_one_out",),
    build=_tau("tau_leave_one_out", "Kendall's τ of attention and leave-one-out"),
    brush=("tau_leave_one_out",),
)
TAU_DENSITIES = Chart(
    name="tau-densities",
    title="Do two measures of importance agree better?",
    caption="Kendall's tau of attention with each importance measure, and of the two measures with each other, over "
    f"all classes (Gaussian kernel, bandwidth {_BANDWIDTH}). Jain & Wallace 2019, section 4.1.",
    columns=tuple(_PAIRS),
    build=_densities,
)


_PERMUTATION_COLUMNS = ("max_attention", "permuted_tvd")
_PERMUTATION_TITLE = "median TVD of the output under shuffled weights"

PERMUTATION = Chart(
    name="permutation",
    title="Shuffled attention",
    caption="How far the output moves when the weights are shuffled (median over shuffles), in four bands of max "
    "attention. Lines: medians and quartiles. Where attention is peaked but the output hardly moves, it did not "
    "matter what was attended. Jain & Wallace 2019, Figure 3.",
    columns=(*_PERMUTATION_COLUMNS, "decision"),
    build=lambda facts: violins(facts, "permuted_tvd", _PERMUTATION_TITLE, extent=(0, 1), bandwidth=0.02),
    brush=("permuted_tvd",),
)
PERMUTATION_POINTS = Chart(
    name="permutation-points",
    title="Shuffled attention, instance by instance",
    caption="Each point is an instance: how far the output moves under shuffled weights, against its largest weight. "
    "The instances behind Figure 3 of Jain & Wallace 2019.",
    columns=_PERMUTATION_COLUMNS,
    build=lambda facts: scatter(
        facts,
        Side("permuted_tvd", _PERMUTATION_TITLE, (0, 1), 0.1),
        Side("max_attention", "max attention", (0, 1), 0.25),
        classes=True,
    ),
    brush=("permuted_tvd", "max_attention"),
    points=POINTS,
)
