"""The figures of the report, each declared once (see docs/figures.md)."""

from heedful.report.charts.chart import Chart, Facts
from heedful.report.charts.jain_wallace import JAIN_WALLACE
from heedful.report.charts.serrano_smith import SERRANO_SMITH

__all__ = ["CHARTS", "Chart", "Facts"]

CHARTS = {chart.name: chart for chart in (*JAIN_WALLACE, *SERRANO_SMITH)}
