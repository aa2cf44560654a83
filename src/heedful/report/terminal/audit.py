"""An audit in the terminal: the verdict first, then its criteria, caveats, cost and next steps."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.audits.directory import Audit
from heedful.audits.overview import Cost, advice, caveats, costs, facts, plausibility_of
from heedful.experiments.plausibility_summary import HEADING, NAMES, Plausibility
from heedful.printable import printable
from heedful.report.terminal.verdict import answer_lines, class_lines, criteria_table
from heedful.verdict.wording import method_name


def audit_summary(audit: Audit) -> RenderableType:
    """Printed when an audit is done."""
    verdict = audit.verdict
    parts = [*answer_lines(verdict), criteria_table(verdict), *class_lines(verdict)]
    if verdict.better is not None:
        better = verdict.better
        found = f"{better.by:.2f} of the probability (95 % interval {better.low:.2f} to {better.high:.2f})"
        parts.append(Text(f"Better map: {printable(method_name(better.method))}; its top words matter more by {found}"))
    plausible = plausibility_of(audit)
    if plausible is not None:
        parts.append(plausibility_lines(plausible))
    about = "; ".join(f"{key} {printable(value)}" for key, value in facts(audit) if key not in ("heedful", "seed"))
    parts += [Text(about), *(Text(f"- {caveat}") for caveat in caveats(audit))]
    parts += [cost_table(costs(audit)), *(Text(f"Next: {step}.") for step in advice(audit))]
    return Group(*parts)


def plausibility_lines(plausible: Plausibility, *, short: bool = False) -> RenderableType:
    """Attention, the best attribution and a random order against the words that people marked, and a sentence; or that
    alone."""
    if short:
        return Text(f"{HEADING} {plausible.words}")
    table = Table(box=None, pad_edge=False)
    table.add_column("ranking")
    for name in NAMES.values():
        table.add_column(name, justify="right")
    for row in plausible.rows:
        table.add_row(row.ranking, *row.cells)
    return Group(Text(HEADING), *([table] if plausible.rows else []), Text(plausible.words))


def cost_table(costs: Sequence[Cost]) -> RenderableType:
    """Texts, readings and seconds of each stage and in total."""
    title = "Cost (one reading = one forward pass over one text; a replay starts from kept states)"
    table = Table(box=None, title=title, title_justify="left", pad_edge=False)
    table.add_column("stage")
    for name in ("texts", "readings", "replays", "seconds"):
        table.add_column(name, justify="right")
    for cost in costs:
        counts = map(_count, (cost.texts, cost.readings, cost.replays))
        table.add_row(cost.stage.replace("_", " "), *counts, f"{cost.seconds:,.1f}")
    readings, replays = sum(cost.readings for cost in costs), sum(cost.replays for cost in costs)
    table.add_row("total", "", _count(readings), _count(replays), f"{sum(cost.seconds for cost in costs):,.1f}")
    return table


def audit_places(audit: Audit) -> str:
    """Where the files are; printed without wrapping so that paths can be copied."""
    return f"written to {audit.folder}\nprintable card: {audit.folder / 'card.html'}"


def _count(number: int) -> str:
    return f"{number:,}" if number else ""
