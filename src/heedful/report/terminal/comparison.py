"""A comparison in the terminal: signs and words, and colours that repeat them."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from heedful.findings.claim_tests import Finding
from heedful.findings.claims import Checked, Verdict
from heedful.findings.comparison import LEGEND, RELEASED, Comparison, Gap, Published, Side
from heedful.printable import figure, percent, printable
from heedful.report.tables.table import UNKNOWN
from heedful.report.terminal.verdict import shortened

WIDE = 96  # columns in which a table has room for intervals beside their figures
Source = Literal["paper", "released"]
SHOWN = 6  # configurations listed under a claim
NAME = 12  # letters of a class name
_COUNTED: dict[Verdict, str] = {
    "holds": "hold",
    "does not hold": "do not hold",
    "undecided": "are undecided",
    "not testable here": "cannot be tested on these runs",
}
_COLOURS = {"=": "green", "~": "yellow", "≠": "red", "": ""}
_MARKS: dict[Verdict, tuple[str, str]] = {
    "holds": ("✓", "green"),
    "does not hold": ("✗", "red"),
    "undecided": ("?", "yellow"),
    "not testable here": (UNKNOWN, "dim"),
}


def comparison_view(comparison: Comparison, *, width: int = WIDE) -> RenderableType:
    """Tables of figures, then the checklist, in so many columns."""
    parts: list[RenderableType] = [Text(_in_short(comparison), style="bold"), Text()]
    for side in comparison.sides:
        parts += [_figures(side, narrow=width < WIDE), *([Text(side.seeds)] if side.seeds else []), Text()]
    if comparison.sides:
        parts += [Text(f"{LEGEND} Brackets: 95 % intervals over seeds and instances. {RELEASED}")]
        parts += [*([Text(comparison.caveats)] if comparison.caveats else []), Text()]
    else:
        parts += [Text("Nothing to compare: no figures were published for these models on these corpora."), Text()]
    if comparison.others and comparison.sides:
        names = "; ".join(printable(each.label) for each in comparison.others)
        parts += [Text(f"No figures were published for: {names}."), Text()]
    for paper, checked in groupby(comparison.claims, key=lambda each: each.paper):
        parts += [Text(f"Claims of {paper}", style="bold"), *map(_claim, checked), Text()]
    return Group(*parts)


def _in_short(comparison: Comparison) -> str:
    """How near the published figures ours are, and how many claims hold."""
    sentences = []
    sources: tuple[Source, ...] = ("paper", "released")
    for source, name in zip(sources, ("the papers", "the released code"), strict=True):
        gaps = [row.difference(source) for side in comparison.sides for row in side.rows]
        signs = Counter(gap.sign for gap in gaps if gap is not None and gap.sign)
        if signs:
            near = f"{signs['=']} near, {signs['~']} not far, {signs['≠']} far"
            sentences.append(f"Of {signs.total()} figures in {name}, ours are {near}.")
    verdicts = Counter(claim.verdict for claim in comparison.claims)
    told = ", ".join(f"{verdicts[verdict]} {words}" for verdict, words in _COUNTED.items() if verdicts[verdict])
    return " ".join([*sentences, f"Of the papers' {len(comparison.claims)} claims, {told}."])


def _figures(side: Side, *, narrow: bool) -> Table:
    """One row a figure; where there is little room, intervals stand below."""
    count = len(side.configuration.runs)
    seeds = f"{count} seeds" if count > 1 else f"seed {side.configuration.config.seed}"
    vectors = ", random word vectors" if side.random else ""
    title = f"{side.configuration.label}, preset {side.configuration.config.preset}, {seeds}{vectors}"
    heading = Text(printable(title), style="bold")
    table = Table(title=heading, title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    known: tuple[Source, ...] = ("paper", "released")
    sources = [name for name in known if any(getattr(row, name) is not None for row in side.rows)]
    table.add_column("figure")
    table.add_column("predicted")
    table.add_column("ours", no_wrap=True)
    for source in sources:
        table.add_column({"paper": "in the\npaper", "released": "released\ncode"}[source], no_wrap=True)
        table.add_column("differ-\nence" if narrow else "difference", no_wrap=True)
    for row in side.rows:
        ours = row.ours
        between = "\n" if narrow else " "
        interval = "" if ours.low is None else f"{between}[{figure(ours.low)}, {figure(ours.high)}]"
        words = (row.figure, shortened(row.decided or "all", NAME), f"{figure(ours.mean)}{interval}")
        cells = list(map(Text, words))
        for source in sources:
            cells += [_published(getattr(row, source)), _apart(row.difference(source))]
        table.add_row(*cells)
    return table


def _published(theirs: Published | None) -> Text:
    if theirs is None:
        return Text("")
    return Text(figure(theirs.value) + ("" if theirs.std is None else f"±{figure(theirs.std)}"))


def _apart(away: Gap | None) -> Text:
    if away is None:
        return Text("")
    size = _signed(away.difference, 2) if away.in_std is None else f"{_signed(away.in_std, 1)} sd"
    return Text(f"{away.sign or ' '} {size}", style=_COLOURS[away.sign])


def _signed(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:+.{digits}f}"  # never -0.00


def _claim(checked: Checked) -> RenderableType:
    mark, colour = _MARKS[checked.verdict]
    head = Text.assemble((f"{mark} {checked.verdict}: ", colour), checked.claim)
    return Group(Padding(head, (0, 0, 0, 1)), *(Padding(Text(line), (0, 0, 0, 4)) for line in _evidence(checked)))


def _evidence(checked: Checked) -> Iterator[str]:
    if not checked.findings:
        yield checked.reason
        return
    holding = sum(found.holds is True for found in checked.findings)
    open_ = sum(found.holds is None for found in checked.findings)
    unsure = f", inconclusive in {open_}" if open_ else ""
    total = len(checked.findings)
    yield f"{checked.rule}: in {holding} of {total} {'configuration' if total == 1 else 'configurations'}{unsure}"
    for found in checked.findings[:SHOWN]:
        yield _found(found)
    if len(checked.findings) > SHOWN:
        yield f"and {len(checked.findings) - SHOWN} more (all with --json or --out)"


def _found(found: Finding) -> str:
    mark = {True: "✓", False: "✗", None: "?"}[found.holds]
    if found.against is not None:
        values = f"{percent(found.value)} for, {percent(found.against)} against"
    else:
        values = f"{figure(found.value)} [{figure(found.low)}, {figure(found.high)}]"
    return f"{mark} {printable(found.where)}: {values}, n = {found.n:,}"
