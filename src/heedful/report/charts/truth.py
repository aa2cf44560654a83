"""Is attention where the answer is? For corpora that know which items decide."""

from heedful.report.charts.chart import Chart
from heedful.report.charts.histogram import histogram

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
