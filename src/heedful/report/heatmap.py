"""Heat-maps of attention: the darker an item, the more weight it has. Text is data: it is escaped everywhere."""

from html import escape
from pathlib import Path

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.style import Style
from rich.text import Text

from heedful.errors import BadConfig, unknown_name
from heedful.files import write_text
from heedful.printable import printable
from heedful.report.instance import Instance

_FULL = (209, 90, 0)  # the hue of the heaviest item; the lightest is white


def terminal_heatmap(instance: Instance, *, top: int = 5) -> RenderableType:
    """Tokens on a background as strong as their weight, and the heaviest of them in numbers."""
    tokens = Text()
    for token, share in zip(instance.tokens, _shares(instance), strict=True):
        red, green, blue = _colour(share)
        tokens.append(printable(token), Style(color="rgb(0,0,0)", bgcolor=f"rgb({red},{green},{blue})"))
        tokens.append(" ")
    heaviest = sorted(range(len(instance.tokens)), key=lambda index: -instance.weights[index])[:top]
    listed = ", ".join(f"{printable(instance.tokens[index])} {instance.weights[index]:.3f}" for index in heaviest)
    lines = [Text(_headline(instance), style="bold"), tokens, Text(f"most attended: {listed}")]
    if instance.truth is not None:
        deciding = [index for index, decides in enumerate(instance.truth) if decides]
        words = ", ".join(printable(instance.tokens[index]) for index in deciding)
        mass = sum(instance.weights[index] for index in deciding)
        lines.append(Text(f"really deciding: {words} (attention on them: {mass:.3f})"))
    return Group(*lines)


def save_heatmap(instance: Instance, path: Path) -> None:
    """Write the heat-map to a file; the format follows the file's ending."""
    formats = {".html": _html, ".svg": _svg, ".tex": _tex}
    if path.suffix not in formats:
        raise unknown_name("heat-map format", path.suffix or str(path), formats)
    if not path.parent.is_dir():
        raise BadConfig(f"--save {path}: there is no directory {path.parent}; make it first")
    write_text(path, formats[path.suffix](instance))


def _html(instance: Instance) -> str:
    spans = " ".join(
        f'<span title="{weight:.4f}" style="background:rgb{_colour(share)}">{escape(printable(token))}</span>'
        for token, weight, share in zip(instance.tokens, instance.weights, _shares(instance), strict=True)
    )
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        f"<title>{escape(printable(instance.id))}</title>\n"
        "<style>body{font:16px/1.8 sans-serif;color:#000;background:#fff;max-width:50em;margin:2em auto}"
        "span{padding:.15em .2em;border-radius:.2em}</style>\n"
        f"<p><b>{escape(_headline(instance))}</b></p>\n<p dir=auto>{spans}</p>\n</html>\n"
    )


def _svg(instance: Instance, *, columns: int = 90) -> str:
    """Monospaced text on rectangles; its own layout, so that the file needs nothing from the network."""
    cell, line, margin = 8.5, 26, 12  # width of a character, height of a line, in pixels
    shapes = []
    column, row = 0, 1
    for token, weight, share in zip(instance.tokens, instance.weights, _shares(instance), strict=True):
        text = printable(token)
        width = cell_len(text)
        if column and column + width > columns:
            column, row = 0, row + 1
        x, y = margin + column * cell, margin + row * line + 12
        shapes.append(
            f'<rect x="{x - 2:.1f}" y="{y - 17:.1f}" width="{width * cell + 4:.1f}" height="23" rx="3" '
            f'fill="rgb{_colour(share)}"><title>{weight:.4f}</title></rect>'
            f'<text x="{x:.1f}" y="{y:.1f}" textLength="{width * cell:.1f}">{escape(text)}</text>'
        )
        column += width + 1
    size = f'width="{2 * margin + columns * cell:.0f}" height="{2 * margin + row * line + 16}"'
    headline = f'<text x="{margin}" y="{margin + 6}" font-weight="bold">{escape(_headline(instance))}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="14">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{headline}\n' + "\n".join(shapes) + "\n</svg>\n"
    )


def _tex(instance: Instance) -> str:
    boxes = " ".join(
        f"\\colorbox[RGB]{{{','.join(map(str, _colour(share)))}}}{{\\strut {_tex_escape(printable(token))}}}"
        for token, share in zip(instance.tokens, _shares(instance), strict=True)
    )
    return f"% needs \\usepackage{{xcolor}}\n% {_headline(instance)}\n{{\\setlength\\fboxsep{{1pt}}{boxes}}}\n"


def _headline(instance: Instance) -> str:
    right = ""
    if instance.label is not None:
        right = ", rightly" if instance.label == instance.decision else f", but it is {instance.label}"
    return printable(
        f"{instance.id} of {instance.corpus}: decided {instance.decision} (p = {instance.probability:.3f}){right}"
    )


def _shares(instance: Instance) -> list[float]:
    """Weights as shares of the heaviest, so that flat attention on a long text can still be seen."""
    heaviest = max(instance.weights)
    return [weight / heaviest for weight in instance.weights]


def _colour(share: float) -> tuple[int, int, int]:
    red, green, blue = (round(255 + (full - 255) * share) for full in _FULL)
    return red, green, blue


def _tex_escape(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c) or (f"\\{c}" if c in "#$%&_{}" else c) for c in text)
