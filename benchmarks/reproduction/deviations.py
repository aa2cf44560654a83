"""How near ours are to the published figures, in all."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.reproduction.markdown import table
from heedful.findings.comparison import Comparison

_FAR = ("near", "not far", "far")


def deviations(compared: Comparison) -> str:
    """How many of our figures are how far from those of the papers, and from those of the released code."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for side in compared.sides:
        for row in side.rows:
            for where, away in (
                ("in the paper", row.difference("paper")),
                ("in the released code", row.difference("released")),
            ):
                if away is not None and away.words is not None:
                    counts.setdefault((where, row.figure), Counter())[away.words] += 1
    rows = ([where, figure, *(str(found[word]) for word in _FAR)] for (where, figure), found in sorted(counts.items()))
    return table(["published", "figure", *_FAR], rows, left=2)


def farthest(compared: Comparison, *, most: int = 5) -> Sequence[str]:
    """The figures of the papers that ours are furthest from, in their standard deviations."""
    found = [
        (abs(away.in_std), f"{side.configuration.label}, {row.figure}, {row.decided or 'all'}")
        for side in compared.sides
        for row in side.rows
        if (away := row.difference("paper")) is not None and away.in_std is not None
    ]
    return [f"{name} ({away:.1f} sd)" for away, name in sorted(found, reverse=True)[:most]]
