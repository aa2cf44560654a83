"""Heat-maps as files: HTML, SVG and LaTeX. Text is data: it is escaped everywhere."""

from html import escape
from pathlib import Path

from rich.cells import cell_len

from heedful.errors import BadConfig, unknown_name
from heedful.files import write_text
from heedful.printable import printable
from heedful.report.heatmap import Map, comparison, headline, maps
from heedful.report.instance import Instance

_CELL, _LINE, _MARGIN = 8.5, 26, 12  # width of a character, height of a line, in pixels


def save_heatmap(instance: Instance, path: Path) -> None:
    """Write the heat-maps of an instance side by side; the format follows the file's ending."""
    formats = {".html": to_html, ".svg": to_svg, ".tex": to_tex}
    if path.suffix not in formats:
        raise unknown_name("heat-map format", path.suffix or str(path), formats)
    if not path.parent.is_dir():
        raise BadConfig(f"--save {path}: there is no directory {path.parent}; make it first")
    write_text(path, formats[path.suffix](instance))


def to_html(instance: Instance) -> str:
    """A page of its own."""
    sections = "\n".join(
        f"<section><h2>{one.title}</h2><p dir=auto>{_spans(instance, one)}</p></section>" for one in maps(instance)
    )
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(printable(instance.id))}</title>\n"
        "<style>body{font:16px/1.8 sans-serif;color:#000;background:#fff;max-width:70em;margin:2em auto;padding:0 1em}"
        "main{display:flex;flex-wrap:wrap;gap:2em}section{flex:1 1 20em}h2{font-size:1em;font-weight:normal;"
        "text-decoration:underline}span{padding:.15em .2em;border-radius:.2em}</style>\n"
        f"<p><b>{escape(headline(instance))}</b></p>\n<main>\n{sections}\n</main>\n"
        f"<p>{escape(comparison(instance))}</p>\n</html>\n"
    )


def to_svg(instance: Instance) -> str:
    """Monospaced text on rectangles; its own layout, so that the file needs nothing from the network."""
    shown = maps(instance)
    columns = 90 if len(shown) == 1 else 56
    shapes, height = [], 0
    for index, one in enumerate(shown):
        left = _MARGIN + index * (columns + 4) * _CELL
        if len(shown) > 1:
            shapes.append(
                f'<text x="{left:.1f}" y="{_MARGIN + _LINE + 6}" text-decoration="underline">{one.title}</text>'
            )
        rows, drawn = _boxes(instance, one, columns, (left, _MARGIN + (_LINE if len(shown) > 1 else 0)))
        shapes += drawn
        height = max(height, rows)
    width = 2 * _MARGIN + (len(shown) * (columns + 4) - 4) * _CELL
    top = _MARGIN + (height + len(shown)) * _LINE
    notes = [f'<text x="{_MARGIN}" y="{_MARGIN + 6}" font-weight="bold">{escape(headline(instance))}</text>']
    for row, words in enumerate(_lines(comparison(instance), int(width / _CELL) - 4)):
        top += _LINE if row else 12
        notes.append(f'<text x="{_MARGIN}" y="{top + 6}">{escape(words)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top + _MARGIN + 12}" '
        'font-family="monospace" font-size="14">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(notes + shapes)
        + "\n</svg>\n"
    )


def to_tex(instance: Instance) -> str:
    """Coloured boxes, map after map, for inclusion in a document."""
    strips = "\n\n".join(
        f"% {one.title}\n"
        + " ".join(
            f"\\colorbox[RGB]{{{','.join(map(str, colour))}}}{{\\strut {_tex_escape(printable(token))}}}"
            for token, colour in zip(instance.tokens, one.colours, strict=True)
        )
        for one in maps(instance)
    )
    notes = "".join(f"% {words}\n" for words in (headline(instance), comparison(instance)) if words)
    return f"% needs \\usepackage{{xcolor}}\n{notes}{{\\setlength\\fboxsep{{1pt}}\n{strips}\n}}\n"


def _spans(instance: Instance, shown: Map) -> str:
    return " ".join(
        f'<span title="{weight:.4f}" style="background:rgb{colour}">{escape(printable(token))}</span>'
        for token, weight, colour in zip(instance.tokens, shown.weights, shown.colours, strict=True)
    )


def _boxes(instance: Instance, shown: Map, columns: int, corner: tuple[float, float]) -> tuple[int, list[str]]:
    """How many lines a map takes, and its shapes."""
    left, top = corner
    shapes = []
    column, row = 0, 1
    for token, weight, colour in zip(instance.tokens, shown.weights, shown.colours, strict=True):
        text = printable(token)
        width = cell_len(text)
        if column and column + width > columns:
            column, row = 0, row + 1
        x, y = left + column * _CELL, top + row * _LINE + 12
        shapes.append(
            f'<rect x="{x - 2:.1f}" y="{y - 17:.1f}" width="{width * _CELL + 4:.1f}" height="23" rx="3" '
            f'fill="rgb{colour}"><title>{weight:.4f}</title></rect>'
            f'<text x="{x:.1f}" y="{y:.1f}" textLength="{width * _CELL:.1f}">{escape(text)}</text>'
        )
        column += width + 1
    return row, shapes


def _lines(words: str, columns: int) -> list[str]:
    lines: list[str] = []
    for word in words.split():
        if lines and len(lines[-1]) + len(word) < columns:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _tex_escape(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c) or (f"\\{c}" if c in "#$%&_{}" else c) for c in text)
