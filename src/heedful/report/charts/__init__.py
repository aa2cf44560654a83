"""The figures of the report, each declared once (see docs/figures.md)."""

from heedful.report.charts.chart import Chart, Facts
from heedful.report.charts.jain_wallace import (
    ADVERSARY_DENSITIES,
    ADVERSARY_HISTOGRAM,
    ADVERSARY_SEARCH,
    PERMUTATION,
    PERMUTATION_POINTS,
    TAU_DENSITIES,
    TAU_GRADIENT,
    TAU_LEAVE_ONE_OUT,
)
from heedful.report.charts.serrano_smith import DELTA_JS, DELTA_JS_NEGATIVE, REMOVAL_FRACTION, REMOVAL_MASS, TRUTH_MASS

__all__ = ["CHARTS", "Chart", "Facts"]

CHARTS: dict[str, Chart] = {
    chart.name: chart
    for chart in (
        TAU_GRADIENT,
        TAU_LEAVE_ONE_OUT,
        TAU_DENSITIES,
        PERMUTATION,
        PERMUTATION_POINTS,
        ADVERSARY_HISTOGRAM,
        ADVERSARY_DENSITIES,
        ADVERSARY_SEARCH,
        DELTA_JS,
        DELTA_JS_NEGATIVE,
        REMOVAL_FRACTION,
        REMOVAL_MASS,
        TRUTH_MASS,
    )
}
