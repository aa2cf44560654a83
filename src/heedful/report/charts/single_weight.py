"""Does the highest weight matter more than another? (Serrano & Smith 2019, section 4)"""

import altair as alt

from heedful.experiments.single_weight import ROUNDING
from heedful.report.charts.chart import Chart, Drawing, Facts
from heedful.report.charts.histogram import histogram
from heedful.report.charts.scatter import POINTS, Side, line, scatter


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
