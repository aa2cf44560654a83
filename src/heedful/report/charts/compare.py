"""One figure of every instance in two runs: the chart of the site's page Compare."""

from typing import Any

import altair as alt

from heedful.report.charts.marks import ROWS, brush
from heedful.report.charts.scatter import POINTS
from heedful.report.charts.theme import PLAIN


def compare_chart() -> dict[str, Any]:
    """The chart in plain values; the page fills in the rows `id`, `a` and `b`, and what the axes are called."""
    points = (
        alt.Chart(ROWS)
        .mark_point(color=PLAIN, opacity=0.65, size=18, strokeWidth=1.2, aria=False)
        .encode(
            x=alt.X("a:Q", title="A", scale=alt.Scale(zero=False)),
            y=alt.Y("b:Q", title="B", scale=alt.Scale(zero=False)),
            tooltip=[alt.Tooltip("id:N", title="instance"), "a:Q", "b:Q"],
        )
        .add_params(brush("x", "y"))
        .properties(height=320)
    )
    return {
        "name": "compare",
        "title": "The same instances in both runs",
        "caption": "Each point is an instance; on a rising diagonal, both runs agree.",
        "brush": ["a", "b"],
        "points": POINTS,
        "spec": points.to_dict(),
    }
