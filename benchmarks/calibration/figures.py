"""The operating curve, and what the rule says between unfaithful and faithful."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from benchmarks.calibration.counting import ANSWERS
from benchmarks.calibration.fitting import MIDDLE
from heedful.report.charts.marks import CLASSES, DASHES, SHAPES, config
from heedful.report.charts.render import write_drawing

Rows = Sequence[Mapping[str, Any]]
LINES = {
    "true yes": "yes to faithful",
    "true no": "no to unfaithful",
    "false yes": "yes to unfaithful",
    "false no": "no to faithful",
}
SIDE = 260


def draw_operating(rows: Rows, path: Path) -> None:
    """True against false yes, and all rates as thresholds move."""
    curves = alt.Chart(alt.Data(values=[dict(row) for row in rows]))
    share = alt.Scale(domain=[0, 1])
    domain = ["input", "attention"]
    level = {
        "color": alt.Color("level:N", title="erased at", scale=_scale(domain, CLASSES), legend=_legend()),
        "strokeDash": alt.StrokeDash("level:N", title="erased at", scale=_scale(domain, DASHES), legend=_legend()),
    }
    axes = {
        "x": alt.X("false yes:Q", title="yes to unfaithful", scale=share),
        "y": alt.Y("true yes:Q", title="yes to faithful", scale=share),
    }
    line = curves.mark_line(interpolate="linear", strokeWidth=2).encode(**axes, **level, order="strictness:Q")
    points = (
        curves.transform_filter(alt.datum.strictness == MIDDLE)
        .mark_point(size=90, filled=True, opacity=1)
        .encode(**axes, color=level["color"], shape=alt.Shape("level:N", scale=_scale(domain, SHAPES), legend=None))
    )
    roc = (line + points).properties(width=SIDE, height=SIDE, title="as thresholds move; marked: those in use")
    told = [
        {"strictness": row["strictness"], "rate": row[name], "answer": label}
        for row in rows
        if row["level"] == "input"
        for name, label in LINES.items()
    ]
    kinds = alt.Scale(domain=list(LINES.values()), range=[CLASSES[0], CLASSES[2], CLASSES[1], "#888888"])
    dashes = alt.Scale(domain=list(LINES.values()), range=[[1, 0], [7, 4], [2, 3], [8, 3, 2, 3]])
    moving = (
        alt.Chart(alt.Data(values=told))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("strictness:Q", title="strictness: 0 others end, 1 faithful begin", scale=alt.Scale(nice=False)),
            y=alt.Y("rate:Q", title="share of subjects", scale=share),
            color=alt.Color("answer:N", title=None, scale=kinds, legend=_legend(columns=2)),
            strokeDash=alt.StrokeDash("answer:N", title=None, scale=dashes, legend=_legend(columns=2)),
        )
    )
    rule = alt.Chart(alt.Data(values=[{"strictness": MIDDLE}])).mark_rule(strokeDash=[4, 3]).encode(x="strictness:Q")
    rates = (moving + rule).properties(width=SIDE + 60, height=SIDE, title="erased at the input; dashed: in use")
    _write(alt.hconcat(roc, rates, spacing=30).resolve_scale(color="independent", strokeDash="independent"), path)


def draw_steps(rows: Rows, path: Path) -> None:
    """Which answers are given as more and more comes through attention."""
    scale = alt.Scale(domain=list(ANSWERS), range=[CLASSES[0], CLASSES[1], "#888888"])
    bars = (
        alt.Chart(alt.Data(values=[dict(row) for row in rows]))
        .mark_bar(stroke="white")
        .encode(
            x=alt.X(
                "through:O", title="share of what the head reads that comes from the attended words", axis=_level()
            ),
            y=alt.Y("count:Q", title="subjects", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("answer:N", title=None, scale=scale, legend=_legend()),
            order=alt.Order("place:Q"),
        )
        .properties(width=2 * SIDE, height=160)
    )
    _write(bars, path)


def _scale(domain: list[str], marks: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=domain, range=list(marks[: len(domain)]))


def _legend(columns: int = 3) -> alt.Legend:
    return alt.Legend(orient="top", columns=columns, symbolOpacity=1, symbolSize=120, titleOrient="left")


def _level() -> alt.Axis:
    return alt.Axis(labelAngle=0, format=".1f")


def _write(chart: alt.TopLevelMixin, path: Path) -> None:
    import vl_convert

    svg = vl_convert.vegalite_to_svg(chart.to_dict(), config=dict(config()), allowed_base_urls=[])
    write_drawing(svg, path.with_suffix(""), path.suffix[1:])
