"""The answers by kind of model, and the operating curve."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from benchmarks.calibration.settings import IN_USE
from heedful.report.charts.marks import CLASSES, config
from heedful.report.charts.render import write_drawing
from heedful.verdict.verdict import ANSWERS

Rows = Sequence[Mapping[str, Any]]
GREY, LIGHT_GREY = "#888888", "#d5d5d5"
LINES = {  # of the operating curve: what is right is drawn solid
    "faithful: yes": (CLASSES[0], [1, 0]),
    "wrong words: no": (CLASSES[1], [1, 0]),
    "not decided through: with caution": (CLASSES[2], [1, 0]),
    "misleading: yes": (GREY, [2, 3]),
    "faithful: no": (GREY, [8, 3, 2, 3]),
}


def draw_kinds(rows: Rows, path: Path) -> None:
    """Which answers are given to models of each kind: `kind`, `label`, `answer`, `share`, `place`."""
    scale = alt.Scale(domain=list(ANSWERS), range=[CLASSES[0], CLASSES[2], CLASSES[1], LIGHT_GREY])
    order = list(dict.fromkeys(row["kind"] for row in rows))
    bars = (
        alt.Chart(_data(rows))
        .mark_bar(stroke="white")
        .encode(
            x=alt.X("share:Q", title="share of the models", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("kind:N", title=None, sort=order),
            color=alt.Color("answer:N", title=None, scale=scale, legend=_legend(columns=4)),
            order=alt.Order("place:Q"),
        )
        .properties(width=480, height=22 * len(order))
    )
    _write(bars, path)


def draw_operating(rows: Rows, path: Path) -> None:
    """Rates as all thresholds move together: `strictness`, `line`, `share`."""
    colours = alt.Scale(domain=list(LINES), range=[colour for colour, _ in LINES.values()])
    dashes = alt.Scale(domain=list(LINES), range=[dash for _, dash in LINES.values()])
    moving = (
        alt.Chart(_data(rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "strictness:Q",
                title="thresholds: 0 where models that break a criterion end, 1 where faithful ones begin",
                scale=alt.Scale(nice=False),
            ),
            y=alt.Y("share:Q", title="share of the models", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("line:N", title=None, scale=colours, legend=_legend(columns=3)),
            strokeDash=alt.StrokeDash("line:N", title=None, scale=dashes, legend=_legend(columns=3)),
        )
    )
    rule = alt.Chart(_data([{"strictness": IN_USE}])).mark_rule(strokeDash=[4, 3]).encode(x="strictness:Q")
    _write((moving + rule).properties(width=480, height=260), path)


def _data(rows: Rows) -> alt.Data:
    return alt.Data(values=[dict(row) for row in rows])  # type: ignore[no-untyped-call]


def _legend(columns: int) -> alt.Legend:
    return alt.Legend(orient="top", columns=columns, symbolOpacity=1, symbolSize=120)


def _write(chart: alt.TopLevelMixin, path: Path) -> None:
    import vl_convert

    svg = vl_convert.vegalite_to_svg(chart.to_dict(), config=dict(config()), allowed_base_urls=[])
    write_drawing(svg, path.with_suffix(""), path.suffix[1:])
