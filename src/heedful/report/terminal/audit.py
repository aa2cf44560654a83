"""An audit in the terminal: the verdict first, then what it follows from, what it cost, and what to do next."""

from collections.abc import Sequence
from typing import Protocol

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.audits.card import OUTCOMES
from heedful.audits.directory import Audit
from heedful.audits.overview import QUESTION, advice, caveats, costs, facts, figures
from heedful.printable import printable

_STYLES = {"yes": "bold green", "with caution": "bold yellow", "no": "bold red"}
_OUTCOMES = {"met": "green", "not met": "red", "open": "yellow", "untested": "yellow"}


class Costed(Protocol):
    """What a stage takes."""

    @property
    def stage(self) -> str: ...  # noqa: D102
    @property
    def texts(self) -> int: ...  # noqa: D102
    @property
    def readings(self) -> int: ...  # noqa: D102
    @property
    def seconds(self) -> float: ...  # noqa: D102


def audit_summary(audit: Audit) -> RenderableType:
    """What a person wants to read when an audit is done."""
    verdict = audit.verdict
    answer = (f"{verdict.answer.capitalize()}.", _STYLES[verdict.answer])
    parts: list[RenderableType] = [Text.assemble(f"{QUESTION} ", answer), Text(verdict.words)]
    table = Table(box=None, title="", pad_edge=False)
    for name in ("question", "figure", "95 % interval", "asked", "outcome"):
        table.add_column(name, justify="left" if name in ("question", "outcome") else "right")
    for criterion in verdict.criteria:
        outcome = Text(OUTCOMES[criterion.outcome], style=_OUTCOMES[criterion.outcome])
        table.add_row(criterion.question, *figures(criterion), outcome)
    parts.append(table)
    if verdict.better is not None:
        better = verdict.better
        words = f"better map: {better.method}, by {better.by:.2f} ({better.low:.2f} to {better.high:.2f})"
        parts.append(Text(words))
    told = "; ".join(f"{key} {printable(value)}" for key, value in facts(audit) if key not in ("heedful", "seed"))
    parts += [Text(told), *(Text(f"- {each}") for each in caveats(audit))]
    parts += [cost_table(costs(audit)), *(Text(f"next: {each}") for each in advice(audit))]
    return Group(*parts)


def cost_table(told: Sequence[Costed]) -> RenderableType:
    """Texts, readings and seconds of each stage, and of all."""
    table = Table(box=None, title="cost (a reading: one text, once)", title_justify="left", pad_edge=False)
    table.add_column("stage")
    for name in ("texts", "readings", "seconds"):
        table.add_column(name, justify="right")
    for cost in told:
        table.add_row(cost.stage.replace("_", " "), _count(cost.texts), _count(cost.readings), f"{cost.seconds:,.1f}")
    readings, seconds = sum(cost.readings for cost in told), sum(cost.seconds for cost in told)
    table.add_row("in all", "", _count(readings), f"{seconds:,.1f}")
    return table


def audit_places(audit: Audit) -> str:
    """Where the files are; to be printed without wrapping, because a path is there to be copied."""
    return f"written to {audit.folder}\na page to print: {audit.folder / 'card.html'}"


def _count(number: int) -> str:
    return f"{number:,}" if number else ""
