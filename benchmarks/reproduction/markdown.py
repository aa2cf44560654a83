"""Markdown of the page."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table whose first so many columns are words, the others figures."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def points(value: float | None) -> str:
    """A share as a whole percentage."""
    return "" if value is None else f"{100 * value:.0f} %"
