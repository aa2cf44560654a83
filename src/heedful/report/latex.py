"""Text in LaTeX: escaped, so that any text compiles."""

import re

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
