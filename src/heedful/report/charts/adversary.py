"""Could other attention have said the same? (Jain & Wallace 2019, section 4.2.2)"""

import altair as alt

from heedful.report.charts.chart import Chart, Drawing, Facts
from heedful.report.charts.histogram import histogram
from heedful.report.charts.scatter import POINTS, Side, line, scatter
from heedful.report.charts.violin import violins

_EXTENT = (0.0, 0.7)  # ln 2 = 0.693 is the greatest there is
_TITLE = "ε-max JSD of attention"


def _search(facts: Facts) -> Drawing:
    diagonal = line(x=0, y=0, x2=_EXTENT[1], y2=_EXTENT[1])
    exact, found = (
        Side("jsd", "JSD, exact", _EXTENT, 0.1),
        Side("jsd_search", "JSD, as far as the search finds", _EXTENT, 0.1),
    )
    return alt.layer(diagonal, scatter(facts, exact, found))


ADVERSARY_HISTOGRAM = Chart(
    name="adversary-histogram",
    title="How different attention could have been",
    caption="How far from the model's own another attention can be (JSD, at most 0.69) while the output moves by no "
    "more than ε; the dashed line is the mean. Jain & Wallace 2019, Figure 4.",
    columns=("jsd",),
    build=lambda facts: histogram(
        facts, "jsd", f"{_TITLE} (ε = {facts.epsilon:g})", extent=_EXTENT, bins=40, ticks=0.1
    ),
    brush=("jsd",),
)
ADVERSARY_DENSITIES = Chart(
    name="adversary-densities",
    title="How different peaked attention could have been",
    caption="How far from the model's own another attention can be while the output moves by no more than ε, in four "
    "bands of max attention; lines are medians and quartiles. Jain & Wallace 2019, Figure 5.",
    columns=("jsd", "max_attention", "decision"),
    build=lambda facts: violins(facts, "jsd", f"{_TITLE} (ε = {facts.epsilon:g})", extent=_EXTENT, bandwidth=0.015),
    brush=("jsd",),
)
ADVERSARY_SEARCH = Chart(
    name="adversary-search",
    title="The exact adversary and the paper's search",
    caption="Each point is an instance: the furthest attention there is, and the furthest that the search of Jain & "
    "Wallace 2019 finds. On the dashed line it finds all there is.",
    columns=("jsd", "jsd_search"),
    build=_search,
    brush=("jsd", "jsd_search"),
    points=POINTS,
)
