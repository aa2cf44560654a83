"""Figures of Serrano & Smith 2019, sections 4 and 5 (zeroing attention weights), and attention on deciding items."""

import json
from typing import Any

import altair as alt

from heedful.experiments.single_weight import ROUNDING
from heedful.report.charts.chart import Chart, Drawing, Facts
from heedful.report.charts.marks import PLAIN, RIGHT, ROWS, axis, quartile_tooltips, quartiles
from heedful.report.charts.shapes import POINTS, Side, histogram, line, scatter

_RANKINGS = {
    "attention": "attention",
    "gradient": "gradient",
    "gradient_attention": "gradient x attention",
    "contribution": "contribution",
    "optimal": "best choice",
    "random": "random",
    "ascending": "rising attention",
}


def _boxes(facts: Facts, figure: str, title: str) -> Drawing:
    """One box per ranking: quartiles, whiskers to the last value within 1.5 box lengths, outliers. Decisions that never
    change are left out, ranking by ranking, as in the paper, and counted."""
    names = {f"{name}_{figure}": words for name, words in _RANKINGS.items() if f"{name}_{figure}" in facts.columns}
    order = list(names.values())
    y = alt.Y("ranking:N", sort=order, title="zeroed in order of", scale=alt.Scale(domain=order))
    counts: dict[str, Any] = {"low": "min(inside)", "high": "max(inside)", "changed": "valid(value)", "all": "count()"}
    summed = alt.Chart().transform_aggregate(**quartiles("value"), **counts, groupby=["ranking"])
    tooltip = [
        alt.Tooltip("ranking:N"),
        *quartile_tooltips(),
        alt.Tooltip("changed:Q", title="decisions that change", format=","),
        alt.Tooltip("all:Q", title="of", format=","),
    ]
    whiskers = [
        summed.mark_rule().encode(x=axis(start, title, (0, 1), ticks=0.1), x2=alt.X2(f"{stop}:Q"), y=y)
        for start, stop in (("low", "q1"), ("q3", "high"))
    ]
    box = summed.mark_bar(color=PLAIN, fillOpacity=0.65, size=14).encode(
        x=axis("q1", title, (0, 1), ticks=0.1), x2=alt.X2("q3:Q"), y=y, tooltip=tooltip
    )
    median = summed.mark_tick(thickness=3, size=22).encode(
        x=axis("middle", title, (0, 1), ticks=0.1), y=y, tooltip=tooltip
    )
    beyond = (
        alt.Chart()
        .transform_filter("isValid(datum.value) && !isValid(datum.inside)")
        .transform_calculate(place="round(datum.value * 200) / 200")
        .transform_aggregate(n="count()", groupby=["ranking", "place"])
        .mark_tick(thickness=1, size=7, opacity=0.7)
        .encode(x=axis("place", title, (0, 1), ticks=0.1), y=y, tooltip=[alt.Tooltip("n:Q", title="instances")])
    )
    never = (
        summed.transform_calculate(
            words="datum.changed == datum.all ? '' : "
            "format(1 - datum.changed / datum.all, '.0%') + ' never (' + format(datum.all - datum.changed, ',') + ')'"
        )
        .mark_text(align="left", dx=8)
        .encode(x=RIGHT, y=y, text=alt.Text("words:N"))
    )
    return (
        alt.layer(*whiskers, beyond, box, median, never, data=ROWS)
        .transform_filter("datum.items > 1")
        .transform_fold(list(names), as_=["column", "value"])
        .transform_calculate(ranking=f"{json.dumps(names)}[datum.column]")
        .transform_joinaggregate(first="q1(value)", third="q3(value)", groupby=["ranking"])
        .transform_calculate(
            inside="isValid(datum.value) && abs(datum.value - (datum.first + datum.third) / 2) "
            "<= 2 * (datum.third - datum.first) + 1e-12 ? datum.value : null"
        )
        .properties(height=alt.Step(30))
    )


def _removal(figure: str, title: str, what: str) -> Chart:
    return Chart(
        name=f"removal-{figure}",
        title=f"{what[0].upper()}{what[1:]} zeroed until the decision changes",
        caption=f"Share of {what} zeroed, in the order of each ranking, when the decision first changes: quartiles, "
        "whiskers of 1.5 box lengths and outliers, over instances with several items. Decisions that never change are "
        "left out and counted on the right. Serrano & Smith 2019, section 5; the best choice is not in the paper.",
        columns=("items", f"attention_{figure}"),
        optional=tuple(f"{name}_{figure}" for name in _RANKINGS if name != "attention"),
        build=lambda facts: _boxes(facts, figure, title),
    )


def _points(facts: Facts) -> Drawing:
    weight = Side("delta_weight", "Δα: weight of the most attended item minus another's", (0, 1), 0.1)
    effect = Side("delta_js", "ΔJS: effect of zeroing it minus the other's")
    return alt.layer(line(y=0), scatter(facts, weight, effect))


def _negative(facts: Facts) -> Drawing:
    only = f"datum.delta_js < {-ROUNDING}"
    return histogram(facts, "delta_weight", "Δα where ΔJS < 0", extent=(0, 1), bins=20, ticks=0.25, only=only)


SERRANO_SMITH = (
    Chart(
        name="delta-js",
        title="The most attended item against a random one",
        caption="Each point is an instance: the difference in weight between the most attended item and a random one, "
        "and how much further zeroing the former moves the output. Below zero the random item mattered more. Serrano & "
        "Smith 2019, section 4.",
        columns=("delta_weight", "delta_js"),
        build=_points,
        brush=("delta_weight", "delta_js"),
        points=POINTS,
    ),
    Chart(
        name="delta-js-negative",
        title="Where a random item mattered more than the most attended one",
        caption="The difference in weight where zeroing the random item moves the output further than zeroing the most "
        "attended one. Large differences are attention's worst failures. Serrano & Smith 2019, section 4.",
        columns=("delta_weight", "delta_js"),
        build=_negative,
        brush=("delta_weight",),
        within=(("delta_js", None, -ROUNDING),),
    ),
    _removal("fraction", "share of items zeroed", "items"),
    _removal("mass", "share of attention zeroed", "attention"),
    Chart(
        name="truth-mass",
        title="Attention on the items that decide",
        caption="Share of attention on the items that are known to decide. Dashed line: mean. Not in the papers.",
        columns=("truth_mass",),
        build=lambda facts: histogram(
            facts, "truth_mass", "attention on the items that decide", extent=(0, 1), bins=20, ticks=0.25
        ),
        brush=("truth_mass",),
    ),
)
