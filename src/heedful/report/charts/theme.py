"""How charts look: fonts, sizes, colours.

What a chart means stands in its specification; what surrounds it (text, axes, background) only here, so that a file is
drawn on white and a page gives the same specification its own colours. The marks' colours do for both: each has a
contrast of about 3 to white and to near-black, they differ in lightness for print in grey, and for people who see few
colours; and no chart tells things apart by colour alone.
"""

from typing import Any, NamedTuple

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first comes with vl-convert; the others are as wide
WIDTH = 420

PLAIN = "#0072b2"  # where nothing is to be told apart
CLASSES = ("#0072b2", "#d98200", "#009378")
SHAPES = ("circle", "triangle-up", "square")
DASHES = ([1, 0], [7, 4], [2, 3])  # solid, dashed, dotted
BRUSH = "#888888"


class Look(NamedTuple):
    """What surrounds the marks."""

    background: str
    text: str
    line: str  # of axes
    grid: str


LIGHT = Look("#ffffff", "#1a1a1a", "#666666", "#e2e2e2")
DARK = Look("#14161a", "#e6e6e6", "#9a9a9a", "#33373d")


def config(look: Look = LIGHT, *, width: int = WIDTH) -> dict[str, Any]:
    """The `config` that goes with any chart's specification."""
    words = {"labelColor": look.text, "titleColor": look.text, "labelFontSize": 11, "titleFontSize": 12}
    plain = {"titleFontWeight": "normal"}
    return {
        "background": look.background,
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None, "continuousWidth": width, "continuousHeight": 240},
        "axis": {
            **words,
            **plain,
            "domainColor": look.line,
            "tickColor": look.line,
            "gridColor": look.grid,
            "titlePadding": 8,
        },
        "header": {**words, **plain, "labelFontWeight": "bold", "labelLimit": width // 2},
        "legend": {**words, **plain, "labelLimit": width, "symbolStrokeWidth": 2},
        "title": {"color": look.text, "fontSize": 11, "fontWeight": "normal", "anchor": "start", "offset": 8},
        "rule": {"color": look.text},
        "tick": {"color": look.text},
        "text": {"color": look.text, "fontSize": 11},
    }
