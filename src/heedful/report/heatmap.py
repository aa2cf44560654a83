"""Heat-maps of attention: the darker an item, the more weight it has. Text is data: it is escaped everywhere."""

from html import escape
from io import StringIO
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.text import Text

from heedful.errors import BadConfig, unknown_name
from heedful.files import write_text
from heedful.report.instance import Instance

_FULL = (209, 90, 0)  # the hue of the heaviest item; the lightest is white


def terminal_heatmap(instance: Instance, *, top: int = 5) -> RenderableType:
    """Tokens on a background as strong as their weight, and the heaviest of them in numbers."""
    tokens = Text()
    for token, share in zip(instance.tokens, _shares(instance), strict=True):
        red, green, blue = _colour(share)
        tokens.append(_printable(token), Style(color="rgb(0,0,0)", bgcolor=f"rgb({red},{green},{blue})"))
        tokens.append(" ")
    heaviest = sorted(range(len(instance.tokens)), key=lambda index: -instance.weights[index])[:top]
    listed = ", ".join(f"{_printable(instance.tokens[index])} {instance.weights[index]:.3f}" for index in heaviest)
    lines = [Text(_headline(instance), style="bold"), tokens, Text(f"most attended: {listed}")]
    if instance.truth is not None:
        deciding = [index for index, decides in enumerate(instance.truth) if decides]
        words = ", ".join(_printable(instance.tokens[index]) for index in deciding)
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
        f'<span title="{weight:.4f}" style="background:rgb{_colour(share)}">{escape(_printable(token))}</span>'
        for token, weight, share in zip(instance.tokens, instance.weights, _shares(instance), strict=True)
    )
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        f"<title>{escape(_printable(instance.id))}</title>\n"
        "<style>body{font:16px/1.8 sans-serif;color:#000;background:#fff;max-width:50em;margin:2em auto}"
        "span{padding:.15em .2em;border-radius:.2em}</style>\n"
        f"<p><b>{escape(_headline(instance))}</b></p>\n<p dir=auto>{spans}</p>\n</html>\n"
    )


def _svg(instance: Instance) -> str:
    console = Console(record=True, width=100, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(terminal_heatmap(instance))
    return console.export_svg(title=_printable(instance.id))


def _tex(instance: Instance) -> str:
    boxes = " ".join(
        f"\\colorbox[RGB]{{{','.join(map(str, _colour(share)))}}}{{\\strut {_tex_escape(_printable(token))}}}"
        for token, share in zip(instance.tokens, _shares(instance), strict=True)
    )
    return (
        f"% needs \\usepackage{{xcolor}}\n% {_printable(_headline(instance))}\n{{\\setlength\\fboxsep{{1pt}}{boxes}}}\n"
    )


def _headline(instance: Instance) -> str:
    right = ""
    if instance.label is not None:
        right = ", rightly" if instance.label == instance.decision else f", but it is {instance.label}"
    return f"{_printable(instance.id)}: decided {instance.decision} (p = {instance.probability:.3f}){right}"


def _shares(instance: Instance) -> list[float]:
    """Weights as shares of the heaviest, so that flat attention on a long text can still be seen."""
    heaviest = max(instance.weights)
    return [weight / heaviest for weight in instance.weights]


def _colour(share: float) -> tuple[int, int, int]:
    red, green, blue = (round(255 + (full - 255) * share) for full in _FULL)
    return red, green, blue


def _printable(text: str) -> str:
    """Control characters and marks that turn the writing direction as visible escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _tex_escape(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c) or (f"\\{c}" if c in "#$%&_{}" else c) for c in text)
