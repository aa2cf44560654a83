"""Figures 2 to 5 of Jain & Wallace 2019: rank correlation, permutation and adversarial attention."""

import json

import altair as alt

from heedful.report.charts.chart import Chart, Drawing, Facts
from heedful.report.charts.marks import CLASSES, DASHES, ROWS, axis, defined
from heedful.report.charts.shapes import POINTS, Side, histogram, line, scatter, violins

_PAIRS = {  # in the order, and with the dashes, of the released code
    "tau_leave_one_out": "attention and leave-one-out",
    "tau_gradient": "attention and gradient",
    "tau_between": "gradient and leave-one-out",
}
_BANDWIDTH = 0.05
_EXTENT = (0.0, 0.7)  # of a JSD: ln 2 = 0.693 is the greatest there is
_PERMUTED = "median TVD of the output under shuffled weights"


def _tau(measure: str, source: str) -> Chart:
    column, words = f"tau_{measure}", f"attention and {measure.replace('_', '-')}"
    return Chart(
        name=column.replace("_", "-"),
        title=words.capitalize(),
        caption=f"Kendall's tau of {words}. Dashed line: mean. {source}",
        columns=(column,),
        build=lambda facts: histogram(facts, column, f"Kendall's τ of {words}", extent=(-1, 1), bins=30, ticks=0.5),
        brush=(column,),
    )


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


def _jsd_title(facts: Facts) -> str:
    return f"ε-max JSD of attention (ε = {facts.epsilon:g})"


def _search(facts: Facts) -> Drawing:
    exact = Side("jsd", "JSD, exact", _EXTENT, 0.1)
    found = Side("jsd_search", "JSD, found by search", _EXTENT, 0.1)
    return alt.layer(line(x=0, y=0, x2=_EXTENT[1], y2=_EXTENT[1]), scatter(facts, exact, found))


JAIN_WALLACE = (
    _tau("gradient", "Jain & Wallace 2019, Figure 2."),
    _tau("leave_one_out", "Like Figure 2 of Jain & Wallace 2019, which shows gradients."),
    Chart(
        name="tau-densities",
        title="Do two measures of importance agree better?",
        caption="Kendall's tau of attention with each importance measure, and of the two measures with each other, "
        f"over all classes (Gaussian kernel, bandwidth {_BANDWIDTH}). Jain & Wallace 2019, section 4.1.",
        columns=tuple(_PAIRS),
        build=_densities,
    ),
    Chart(
        name="permutation",
        title="Shuffled attention",
        caption="How far the output moves when the weights are shuffled (median over shuffles), in four bands of max "
        "attention. Lines: medians and quartiles. Where attention is peaked but the output hardly moves, it did not "
        "matter what was attended. Jain & Wallace 2019, Figure 3.",
        columns=("max_attention", "permuted_tvd", "decision"),
        build=lambda facts: violins(facts, "permuted_tvd", _PERMUTED, extent=(0, 1), bandwidth=0.02),
        brush=("permuted_tvd",),
    ),
    Chart(
        name="permutation-points",
        title="Shuffled attention, instance by instance",
        caption="Each point is an instance: how far the output moves under shuffled weights, against its largest "
        "weight. The instances behind Figure 3 of Jain & Wallace 2019.",
        columns=("max_attention", "permuted_tvd"),
        build=lambda facts: scatter(
            facts,
            Side("permuted_tvd", _PERMUTED, (0, 1), 0.1),
            Side("max_attention", "max attention", (0, 1), 0.25),
            classes=True,
        ),
        brush=("permuted_tvd", "max_attention"),
        points=POINTS,
    ),
    Chart(
        name="adversary-histogram",
        title="How different attention could have been",
        caption="How different attention can be from the model's (JSD, at most 0.69) while the output moves by at most "
        "ε. Dashed line: mean. Jain & Wallace 2019, Figure 4.",
        columns=("jsd",),
        build=lambda facts: histogram(facts, "jsd", _jsd_title(facts), extent=_EXTENT, bins=40, ticks=0.1),
        brush=("jsd",),
    ),
    Chart(
        name="adversary-densities",
        title="How different peaked attention could have been",
        caption="How different attention can be from the model's while the output moves by at most ε, in four bands of "
        "max attention. Lines: medians and quartiles. Jain & Wallace 2019, Figure 5.",
        columns=("jsd", "max_attention", "decision"),
        build=lambda facts: violins(facts, "jsd", _jsd_title(facts), extent=_EXTENT, bandwidth=0.015),
        brush=("jsd",),
    ),
    Chart(
        name="adversary-search",
        title="The exact adversary and the paper's search",
        caption="Each point is an instance: the JSD of the exact adversary, and the JSD that the search of Jain & "
        "Wallace 2019 finds. On the dashed line the search finds the optimum.",
        columns=("jsd", "jsd_search"),
        build=_search,
        brush=("jsd", "jsd_search"),
        points=POINTS,
    ),
)
