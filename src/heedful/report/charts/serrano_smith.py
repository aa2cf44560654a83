"""How much must go before the decision changes? (Serrano & Smith 2019, section 5)"""

import json

import altair as alt

from heedful.experiments.single_weight import ROUNDING
from heedful.report.charts.chart import Chart, Drawing, Facts
from heedful.report.charts.marks import PLAIN, RIGHT, ROWS, axis
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
    """One box a ranking: quartiles, whiskers to the last value within 1.5 box lengths, and what lies beyond.

    Decisions that never change are left out, ranking by ranking, as in the paper; how many they are is said.
    """
    names = {f"{name}_{figure}": words for name, words in _RANKINGS.items() if f"{name}_{figure}" in facts.columns}
    order = list(names.values())
    y = alt.Y("ranking:N", sort=order, title="removed first by", scale=alt.Scale(domain=order))
    summed = alt.Chart().transform_aggregate(
        q1="q1(value)",
        middle="median(value)",
        q3="q3(value)",
        low="min(inside)",
        high="max(inside)",
        changed="valid(value)",
        all="count()",
        groupby=["ranking"],
    )
    told = [
        alt.Tooltip("ranking:N"),
        *(
            alt.Tooltip(f"{field}:Q", title=words, format=".3f")
            for field, words in (("q1", "first quartile"), ("middle", "median"), ("q3", "third quartile"))
        ),
        alt.Tooltip("changed:Q", title="decisions that change", format=","),
        alt.Tooltip("all:Q", title="of", format=","),
    ]
    whiskers = [
        summed.mark_rule().encode(x=axis(start, title, (0, 1), ticks=0.1), x2=alt.X2(f"{stop}:Q"), y=y)
        for start, stop in (("low", "q1"), ("q3", "high"))
    ]
    box = summed.mark_bar(color=PLAIN, fillOpacity=0.65, size=14).encode(
        x=axis("q1", title, (0, 1), ticks=0.1), x2=alt.X2("q3:Q"), y=y, tooltip=told
    )
    median = summed.mark_tick(thickness=3, size=22).encode(
        x=axis("middle", title, (0, 1), ticks=0.1), y=y, tooltip=told
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


def _chart(figure: str, title: str, what: str) -> Chart:
    return Chart(
        name=f"removal-{figure}",
        title=f"{what[0].upper()}{what[1:]} removed until the decision changes",
        caption=f"The share of the {what} removed, in the order of each ranking, when the decision changes first: "
        "quartiles, whiskers of 1.5 box lengths, and what lies beyond, over instances of several items. Decisions that "
        "never change are left out, ranking by ranking, and counted at the right. Serrano & Smith 2019, section 5; "
        "the best choice is not in the paper.",
        columns=("items", f"attention_{figure}"),
        optional=tuple(f"{name}_{figure}" for name in _RANKINGS if name != "attention"),
        build=lambda facts: _boxes(facts, figure, title),
    )


REMOVAL_FRACTION = _chart("fraction", "share of items removed", "items")
REMOVAL_MASS = _chart("mass", "share of attention removed", "attention")


def _points(facts: Facts) -> Drawing:
    weight = Side("delta_weight", "Δα: weight of the most attended item minus another's", (0, 1), 0.1)
    effect = Side("delta_js", "ΔJS: effect of removing it minus the other's")
    return alt.layer(line(y=0), scatter(facts, weight, effect))


def _negative(facts: Facts) -> Drawing:
    return histogram(
        facts,
        "delta_weight",
        "Δα where ΔJS < 0",
        extent=(0, 1),
        bins=20,
        ticks=0.25,
        only=f"datum.delta_js < {-ROUNDING}",
    )


DELTA_JS = Chart(
    name="delta-js",
    title="The most attended item and another one",
    caption="Each point is an instance: by how much the weights of the most attended item and of one drawn at random "
    "differ, and how much further the output moves without the former. Below zero the other one mattered more. "
    "Serrano & Smith 2019, section 4.",
    columns=("delta_weight", "delta_js"),
    build=_points,
    brush=("delta_weight", "delta_js"),
    points=POINTS,
)
DELTA_JS_NEGATIVE = Chart(
    name="delta-js-negative",
    title="Where another item mattered more than the most attended one",
    caption="The difference of their weights among instances in which the output moves further without the item drawn "
    "at random than without the most attended one. Large differences are attention's worst case. Serrano & Smith 2019, "
    "section 4.",
    columns=("delta_weight", "delta_js"),
    build=_negative,
    brush=("delta_weight",),
    within=(("delta_js", None, -ROUNDING),),
)


TRUTH_MASS = Chart(
    name="truth-mass",
    title="Attention on the items that decide",
    caption="How much attention lies on the items that are known to decide; the dashed line is the "
    "mean. Not in the papers.",
    columns=("truth_mass",),
    build=lambda facts: histogram(
        facts, "truth_mass", "attention on the items that decide", extent=(0, 1), bins=20, ticks=0.25
    ),
    brush=("truth_mass",),
)
