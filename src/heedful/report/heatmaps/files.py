"""Heat-maps as files: HTML, SVG and LaTeX. Text is data: it is escaped everywhere."""

import re
from html import escape
from pathlib import Path
from textwrap import wrap

from rich.cells import cell_len

from heedful.errors import BadConfig, unknown_name
from heedful.files import write_text
from heedful.printable import printable
from heedful.report.heatmaps.instance import Instance
from heedful.report.heatmaps.terminal import Map, asked, headline, heaviest, maps, notes

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "#$%&_{}"},
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # behind a line's end, they would be its options
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "\u2212": "$-$",
    "ε": r"$\varepsilon$",
    "τ": r"$\tau$",
    "\u03b1": r"$\alpha$",
    "\u00d7": r"$\times$",
    "\u2013": "--",
    "…": r"\ldots{}",
}

# letters of other scripts for the engines that have them, their numbers for pdfLaTeX, which would stop
OTHER_LETTERS = (
    r"\providecommand\otherletter[2]{\ifdefined\XeTeXversion#1\else\ifdefined\directlua#1\else#2\fi\fi}" + "\n"
)


def tex(text: str) -> str:
    r"""Text with everything escaped that LaTeX reads as a command.

    >>> print(tex("50% of a_b"))
    50\% of a\_b
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def tex_any(text: str) -> str:
    r"""The same, with letters beyond Latin ones as `\otherletter`, which OTHER_LETTERS defines."""
    return re.sub(r"[^\x00-\u017f]", lambda found: f"\\otherletter{{{found[0]}}}{{U+{ord(found[0]):04X}}}", tex(text))


_MARKED = ' class="marked"'
_CELL, _LINE, _MARGIN = 8.5, 26, 12  # width of a character, height of a line, in pixels


def save_heatmap(instance: Instance, path: Path) -> None:
    """Write the heat-maps of an instance side by side; the format follows the file's ending."""
    formats = {".html": to_html, ".svg": to_svg, ".tex": to_tex}
    if path.suffix not in formats:
        raise unknown_name("heat-map format", path.suffix or str(path), formats)
    if not path.parent.is_dir():
        raise BadConfig(f"--save {path}: there is no directory {path.parent}; make it first")
    if path.is_dir():
        raise BadConfig(f"--save {path}: that is a directory; give the name of a file")
    write_text(path, formats[path.suffix](instance))


def to_html(instance: Instance) -> str:
    """A page of its own."""
    sections = "\n".join(
        f"<section><h2>{one.title}</h2><p dir=auto>{_spans(instance, one)}</p>\n"
        f"<p>{escape(heaviest(instance, one))}</p></section>"
        for one in maps(instance)
    )
    above = "".join(f"<p dir=auto>{escape(words)}</p>\n" for words in asked(instance))
    below = "\n".join(f"<p>{escape(words)}</p>" for words in notes(instance))
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(printable(instance.id))}</title>\n"
        "<style>body{font:16px/1.8 sans-serif;color:#000;background:#fff;max-width:70em;margin:2em auto;padding:0 1em;"
        "overflow-wrap:anywhere}main{display:flex;flex-wrap:wrap;gap:2em}section{flex:1 1 20em;min-width:0}"
        "h2{font-size:1em;font-weight:normal;text-decoration:underline}"
        "span{padding:.15em .2em;border-radius:.2em}"
        ".marked{outline:2px solid #000;text-decoration:underline}</style>\n"
        f"<p><b>{escape(headline(instance))}</b></p>\n{above}<main>\n{sections}\n</main>\n{below}\n</html>\n"
    )


def to_svg(instance: Instance) -> str:
    """Monospaced text on rectangles; its own layout, so that the file needs nothing from the network."""
    shown = maps(instance)
    columns = 90 if len(shown) == 1 else 56
    whole = len(shown) * (columns + 4) - 4  # characters across
    sheet = _Sheet()
    sheet.write(headline(instance), whole, 'font-weight="bold"')
    for words in asked(instance):
        sheet.write(words, whole)
    start = end = sheet.row
    for index, one in enumerate(shown):
        sheet.row, sheet.column = start, index * (columns + 4)
        if len(shown) > 1:
            sheet.write(one.title, columns, 'text-decoration="underline"')
        sheet.boxes(instance, one, columns)
        sheet.write(heaviest(instance, one), columns)
        end = max(end, sheet.row)
    sheet.row, sheet.column = end, 0
    for words in notes(instance):
        sheet.write(words, whole)
    width, height = 2 * _MARGIN + whole * _CELL, 2 * _MARGIN + sheet.row * _LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        'font-family="monospace, Liberation Sans" font-size="14">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(sheet.shapes)
        + "\n</svg>\n"
    )


class _Sheet:
    """Shapes on a grid of characters, line below line."""

    def __init__(self) -> None:
        self.shapes: list[str] = []
        self.row = self.column = 0

    def write(self, words: str, columns: int, style: str = "") -> None:
        """Words, wrapped."""
        for line in wrap(words, columns) or [""]:
            x, y = self._at(0)
            self.shapes.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(line)}</text>')
            self.row += 1

    def boxes(self, instance: Instance, shown: Map, columns: int) -> None:
        """Items on the colours of their weights; one too long for a line is folded. Each sentence begins a line."""
        used = 0
        for item, (token, weight, colour) in enumerate(zip(instance.tokens, shown.weights, shown.colours, strict=True)):
            frame = ' stroke="black" stroke-width="1.5"' if item in shown.marked else ""
            line = ' text-decoration="underline"' if item in shown.marked else ""
            text = _numbered(item, weight) + printable(token) if instance.sentences else printable(token)
            for index, piece in enumerate(_pieces(text, columns)):
                width = cell_len(piece)
                if used and (used + width > columns or (instance.sentences and not index)):
                    used, self.row = 0, self.row + 1
                x, y = self._at(used)
                self.shapes.append(
                    f'<rect x="{x - 2:.1f}" y="{y - 17:.1f}" width="{width * _CELL + 4:.1f}" height="23" rx="3" '
                    f'fill="rgb{colour}"{frame}><title>{weight:.4f}</title></rect>'
                    f'<text x="{x:.1f}" y="{y:.1f}" textLength="{width * _CELL:.1f}"{line}>{escape(piece)}</text>'
                )
                used += width + 1
        self.row += 1

    def _at(self, column: int) -> tuple[float, float]:
        return _MARGIN + (self.column + column) * _CELL, _MARGIN + self.row * _LINE + 17


def to_tex(instance: Instance) -> str:
    """Coloured boxes, map after map, for inclusion in a document."""
    strips = "\n\n".join(
        f"% {one.title}; {tex(heaviest(instance, one))}\n" + _tex_boxes(instance, one) for one in maps(instance)
    )
    comments = "".join(f"% {tex(words)}\n" for words in (headline(instance), *notes(instance)))
    question = "".join(f"{tex(words)}\n\n" for words in asked(instance))
    return f"% needs \\usepackage{{xcolor}}\n{comments}{question}{{\\setlength\\fboxsep{{1pt}}\n{strips}\n}}\n"


def _tex_boxes(instance: Instance, shown: Map) -> str:
    """Words one after the other, sentences each in a box as wide as the text."""
    wide = r"\parbox{\dimexpr\linewidth-2\fboxsep}" if instance.sentences else ""
    boxes = []
    for item, (token, colour) in enumerate(zip(instance.tokens, shown.colours, strict=True)):
        text = tex(printable(token))
        text = f"\\underline{{[{text}]}}" if item in shown.marked else text
        boxes.append(f"\\colorbox[RGB]{{{','.join(map(str, colour))}}}{{{wide}{{\\strut {text}}}}}")
    return ("\n\n" if instance.sentences else " ").join(boxes)


def _spans(instance: Instance, shown: Map) -> str:
    spans = (
        f"{_numbered(item, weight) if instance.sentences else ''}"
        f'<span title="{weight:.4f}"{_MARKED if item in shown.marked else ""} style="background:rgb{colour}">'
        f"{escape(printable(token))}</span>"
        for item, (token, weight, colour) in enumerate(zip(instance.tokens, shown.weights, shown.colours, strict=True))
    )
    return ("<br>\n" if instance.sentences else " ").join(spans)


def _numbered(item: int, weight: float) -> str:
    """What stands before a sentence."""
    return f"{item + 1} ({weight:.3f}) "


def _pieces(text: str, columns: int) -> list[str]:
    """An item in pieces that fit a line: a sentence between words if that will do, a long word anywhere."""
    return [piece for line in wrap(text, columns, break_long_words=False) or [""] for piece in _folded(line, columns)]


def _folded(token: str, columns: int) -> list[str]:
    pieces = [""]
    for character in token:
        if cell_len(pieces[-1] + character) > columns:
            pieces.append("")
        pieces[-1] += character
    return pieces
