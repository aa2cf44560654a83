"""Does it matter which item has which weight? (Jain & Wallace 2019, section 4.2.1)"""

from heedful.report.charts.chart import Chart
from heedful.report.charts.scatter import POINTS, Side, scatter
from heedful.report.charts.violin import violins

_COLUMNS = ("max_attention", "permuted_tvd")
_TITLE = "median TVD of the output under shuffled weights"

PERMUTATION = Chart(
    name="permutation",
    title="Shuffled attention",
    caption="How far the output moves when the weights are shuffled (the median of many shuffles), in four bands of "
    "max attention; lines are medians and quartiles. Where attention is peaked and the output stays, "
    "it did not matter what was attended. Jain & Wallace 2019, Figure 3.",
    columns=(*_COLUMNS, "decision"),
    build=lambda facts: violins(facts, "permuted_tvd", _TITLE, extent=(0, 1), bandwidth=0.02),
    brush=("permuted_tvd",),
)
PERMUTATION_POINTS = Chart(
    name="permutation-points",
    title="Shuffled attention, instance by instance",
    caption="Each point is an instance: how far the output moves under shuffled weights, and its largest weight. The "
    "instances behind Figure 3 of Jain & Wallace 2019.",
    columns=_COLUMNS,
    build=lambda facts: scatter(
        facts,
        Side("permuted_tvd", _TITLE, (0, 1), 0.1),
        Side("max_attention", "max attention", (0, 1), 0.25),
        classes=True,
    ),
    brush=("permuted_tvd", "max_attention"),
    points=POINTS,
)
