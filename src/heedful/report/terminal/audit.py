"""An audit in the terminal: the verdict first, then its criteria, caveats, cost and next steps."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.audits.directory import Audit
from heedful.audits.overview import Cost, advice, caveats, costs, facts, plausibility_of
from heedful.experiments.plausibility_summary import HEADING, NAMES, Plausibility
from heedful.printable import printable
from heedful.verdict.criteria import QUESTIONS
from heedful.verdict.verdict import OUTCOMES, QUESTION, Verdict

_STYLES = {"yes": "bold green", "with caution": "bold yellow", "no": "bold red", "not determined": "bold"}
_OUTCOMES = {"met": "green", "not met": "red"} | dict.fromkeys(
    ("at least between", "between", "at most between", "open"), "yellow"
)


def audit_summary(audit: Audit) -> RenderableType:
    """Printed when an audit is done."""
    verdict = audit.verdict
    parts = [*answer_lines(verdict), criteria_table(verdict), *class_lines(verdict)]
    if verdict.better is not None:
        better = verdict.better
        parts.append(Text(f"Better map: {better.method}, by {better.by:.2f} ({better.low:.2f} to {better.high:.2f})"))
    plausible = plausibility_of(audit)
    if plausible is not None:
        parts.append(plausibility_lines(plausible))
    about = "; ".join(f"{key} {printable(value)}" for key, value in facts(audit) if key not in ("heedful", "seed"))
    parts += [Text(about), *(Text(f"- {caveat}") for caveat in caveats(audit))]
    parts += [cost_table(costs(audit)), *(Text(f"next: {step}") for step in advice(audit))]
    return Group(*parts)


def answer_lines(verdict: Verdict) -> list[RenderableType]:
    """The question with its answer, then the answer in words."""
    answer = (f"{verdict.answer.capitalize()}.", _STYLES[verdict.answer])
    return [Text.assemble(f"{QUESTION} ", answer), Text(verdict.words)]


def class_lines(verdict: Verdict) -> list[RenderableType]:
    """The answer for each class, and how many texts have which answer of their own."""
    lines = [f"Texts decided {printable(each.name)}: {each.answer} ({each.words})" for each in verdict.classes]
    counts = ", ".join(f"{count:,} {answer}" for answer, count in verdict.answers.items() if count)
    if counts:
        lines.append(f"Tested texts, each by itself: {counts}")
    return [Text(line) for line in lines]


def criteria_table(verdict: Verdict) -> Table:
    """One row a criterion, under the question that it belongs to."""
    table = Table(box=None, title="", pad_edge=False)
    for name in ("question", "value", "95 % interval", "threshold", "outcome"):
        table.add_column(name, justify="left" if name in ("question", "outcome") else "right")
    for part, question in QUESTIONS.items():
        table.add_row(Text(question, style="bold"))
        for criterion in verdict.criteria:
            if criterion.part == part and (criterion.decisive or criterion.n):
                outcome = Text(OUTCOMES[criterion.outcome], style=_OUTCOMES.get(criterion.outcome, ""))
                table.add_row(criterion.question, *criterion.display().values(), outcome)
    return table


def plausibility_lines(plausible: Plausibility) -> RenderableType:
    """Attention, the best attribution and a random order against the words that people marked, and a sentence."""
    table = Table(box=None, pad_edge=False)
    table.add_column("ranking")
    for name in NAMES.values():
        table.add_column(name, justify="right")
    for row in plausible.rows:
        table.add_row(row.ranking, *row.cells)
    return Group(Text(HEADING), *([table] if plausible.rows else []), Text(plausible.words))


def cost_table(costs: Sequence[Cost]) -> RenderableType:
    """Texts, readings and seconds of each stage and in total."""
    title = "Cost (reading: one forward pass over one text; replay: from kept states on)"
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
