"""A verdict in the terminal: the answer and its reason, the criteria, and the answers class by class."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from heedful.printable import FEW_CLASSES, printable
from heedful.verdict.criteria import CRITERIA, QUESTIONS
from heedful.verdict.verdict import ANSWERS, OUTCOMES, QUESTION, Criterion, Verdict, percent
from heedful.verdict.wording import explanation

NAME = 24  # letters of a class name where several are listed
NAMED = 3  # classes that are named before the rest is counted

_STYLES = {"yes": "bold green", "with caution": "bold yellow", "no": "bold red", "not determined": "bold"}
_OUTCOMES = {"met": "green", "not met": "red"} | dict.fromkeys(
    ("at least between", "between", "at most between", "open"), "yellow"
)
_LABELS = {spec.name: spec.label for spec in CRITERIA}


def answer_lines(verdict: Verdict) -> list[RenderableType]:
    """The question with its answer, then the reason and, if there is one, the better map."""
    answer = (f"{verdict.answer.capitalize()}.", _STYLES[verdict.answer])
    why = printable(explanation(verdict.answer, verdict.words))
    return [Text.assemble(f"{QUESTION} ", answer), *([Text(why)] if why else [])]


def criteria_table(verdict: Verdict) -> Table:
    """One row a criterion, under the question that it belongs to."""
    table = Table(box=None, title="", pad_edge=False)
    for name in ("question", "value", "95 % interval", "threshold", "outcome"):
        table.add_column(
            name, justify="left" if name in ("question", "outcome") else "right", no_wrap=name != "question"
        )
    for part, question in QUESTIONS.items():
        table.add_row(Text(question, style="bold"))
        for criterion in verdict.criteria:
            if criterion.part == part and _told(criterion):
                table.add_row(criterion.question, *criterion.display().values(), _outcome(criterion))
    return table


def criteria_in_short(verdict: Verdict) -> Table:
    """One line a criterion that the answer rests on: what it claims, how far that is so, and what is needed."""
    table = Table(box=None, pad_edge=False)
    for name in ("", "found", "needed", "outcome"):
        table.add_column(name, justify="right" if name in ("found", "needed") else "left", no_wrap=True)
    for criterion in (each for each in verdict.criteria if each.decisive):
        value = criterion.display()["value"]
        table.add_row(_LABELS[criterion.name], value, percent(criterion.threshold), _outcome(criterion))
    return table


def class_lines(verdict: Verdict) -> list[RenderableType]:
    """The answer for each class with its reason, or in short where classes are many; and how many texts have which
    answer of their own."""
    if len(verdict.classes) > FEW_CLASSES:
        lines = classes_in_short(verdict)
    else:
        lines = [f"Texts decided {printable(each.name)}: {each.answer} ({each.words})" for each in verdict.classes]
    counts = ", ".join(f"{count:,} {answer}" for answer, count in verdict.answers.items() if count)
    if counts:
        lines.append(f"Answers for single texts: {counts}")
    return [Text(line) for line in lines]


def classes_in_short(verdict: Verdict) -> list[str]:
    """One line for each answer with the classes that have it."""
    lines = []
    for answer in ANSWERS:
        names = [each.name for each in verdict.classes if each.answer == answer]
        if names:
            lines.append(f"Texts decided {listed(names)}: {answer}")
    return lines


def shortened(name: str, longest: int = NAME) -> str:
    """A name among others, safe to print; of a long one the beginning."""
    plain = printable(name)
    return plain if len(plain) <= longest else f"{plain[: longest - 3]}..."


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; of many the first."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(map(shortened, names[:NAMED])) + more


def _told(criterion: Criterion) -> bool:
    return criterion.decisive or bool(criterion.n)


def _outcome(criterion: Criterion) -> Text:
    return Text(OUTCOMES[criterion.outcome], style=_OUTCOMES.get(criterion.outcome, ""))
