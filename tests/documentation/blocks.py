"""The code blocks of README and docs, and how each is meant: to be executed, unless a mark says otherwise.

A mark is an HTML comment on the last line before a block, which readers do not see: `<!-- output -->`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

MARKS = {
    "hours": "takes longer than a reader waits",
    "network": "downloads something, or installs it",
    "cluster": "needs other machines",
    "output": "what a command prints",
    "format": "what a file holds",
    "formula": "mathematics",
    "drawing": "lines and arrows",
    "elsewhere": "executed by the test that it names",
}
_MARK = re.compile(r"<!-- ([a-z]+)(?:: (.+))? -->")
_FENCE = re.compile(r"```(\w*)")


class Block(NamedTuple):
    """A block as it stands."""

    page: str  # below the root
    line: int
    language: str  # of a fenced one; `sh` of an indented one
    text: str
    mark: str  # empty: to be executed
    of: str  # what the mark says more: the test of `elsewhere`, the command of `output`

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """All of a page, in order."""
    lines = page.read_text(encoding="utf-8").split("\n")
    at, before = 0, ""  # the last line with anything on it
    while at < len(lines):
        fence = _FENCE.fullmatch(lines[at])
        indented = lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip() or _MARK.fullmatch(before))
        start = at
        if fence:
            at = lines.index("```", at + 1)
            text = "\n".join(lines[start + 1 : at])
        elif indented:
            while at + 1 < len(lines) and (lines[at + 1].startswith("    ") or not lines[at + 1]):
                at += 1
            text = "\n".join(line[4:] for line in lines[start : at + 1]).rstrip()
        if fence or indented:
            mark = _MARK.fullmatch(before)
            language = (fence[1] if fence else "sh") or "text"
            name = page.relative_to(ROOT).as_posix()
            yield Block(name, start + 1, language, text, mark[1] if mark else "", (mark[2] or "") if mark else "")
        if lines[at].strip():
            before = lines[at]
        at += 1


def commands(text: str) -> list[str]:
    """The commands of a shell block: continued lines together, without comments."""
    joined = text.replace("\\\n", " ")
    return [line for line in joined.split("\n") if line.strip() and not line.lstrip().startswith("#")]
