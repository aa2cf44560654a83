"""The card: an audit on one printable page, self-contained, without scripts, every text escaped."""

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from heedful.audits.overview import Example, advice, caveats, costs, examples, facts, plausibility_of
from heedful.experiments.plausibility_summary import HEADING, NAMES
from heedful.printable import printable
from heedful.verdict.criteria import QUESTIONS
from heedful.verdict.verdict import OUTCOMES, QUESTION, Criterion

if TYPE_CHECKING:
    from heedful.audits.directory import Audit

WORDS = 48  # shown of an example, so that the card fits on a page
WIDTH = 120  # of an interval bar


def card(audit: "Audit") -> str:
    """The whole page."""
    return _rendered(
        "card.html.jinja",
        audit,
        examples=[_shaded(example) for example in examples(audit)],
        plausible=plausibility_of(audit),
        heading=HEADING,
        measures=list(NAMES.values()),
    )


def excerpt(audit: "Audit") -> str:
    """Verdict and criteria, for a notebook."""
    if not audit.done("verdict"):
        return str(_template("unfinished.html.jinja").render(folder=str(audit.folder)))
    return _rendered("excerpt.html.jinja", audit)


def _rendered(name: str, audit: "Audit", **more: Any) -> str:
    verdict = audit.verdict
    page: str = _template(name).render(
        title=f"{QUESTION} {verdict.answer.capitalize()}.",
        verdict=verdict,
        kind=verdict.answer.replace(" ", "-"),
        questions=[
            (question, [_row(each) for each in verdict.criteria if each.part == part and (each.decisive or each.n)])
            for part, question in QUESTIONS.items()
        ],
        classes=[(printable(each.name), each) for each in verdict.classes],
        facts=[(key, printable(value)) for key, value in facts(audit)],
        caveats=caveats(audit),
        advice=advice(audit),
        costs=costs(audit),
        seconds=sum(cost.seconds for cost in costs(audit)),
        name=audit.folder.name,
        **more,
    )
    return page


def _template(name: str) -> Any:
    from jinja2 import DictLoader, Environment, StrictUndefined

    folder = files("heedful.audits") / "templates"
    names = ("card.html.jinja", "excerpt.html.jinja", "unfinished.html.jinja", "criteria.html.jinja")
    sources = {each: (folder / each).read_text(encoding="utf-8") for each in names}
    return Environment(loader=DictLoader(sources), autoescape=True, undefined=StrictUndefined).get_template(name)


def _row(criterion: Criterion) -> dict[str, Any]:
    return {
        **criterion.display(),
        "question": criterion.question,
        "outcome": OUTCOMES[criterion.outcome],
        "kind": criterion.outcome.replace(" ", "-"),
        "decisive": criterion.decisive,
        "n": criterion.n,
        "bar": _bar(criterion),
        "words": criterion.words,
    }


def _bar(criterion: Criterion) -> dict[str, float] | None:
    """Positions of value, interval and threshold on a line from 0 to 1, or as far as the interval reaches."""
    if criterion.value is None or criterion.low is None or criterion.high is None:
        return None
    least, most = min(0.0, criterion.low), max(1.0, criterion.high)

    def position(value: float) -> float:
        return round(WIDTH * (value - least) / (most - least), 1)

    names = {"value": criterion.value, "low": criterion.low, "high": criterion.high, "threshold": criterion.threshold}
    return {name: position(value) for name, value in names.items()}


def _shaded(example: Example) -> dict[str, Any]:
    """An example with a shade for each word; of a long text, the part around its top-attended word."""
    words = example.words
    top = max(range(len(words)), key=lambda place: words[place].weight)
    start = max(0, min(top - WORDS // 2, len(words) - WORDS))
    some = words[start : start + WORDS]
    largest = max(word.weight for word in words) or 1.0
    shades = [
        {"text": printable(word.text), "shade": round(word.weight / largest, 2), "weight": f"{word.weight:.3f}"}
        for word in some
    ]
    return {
        **example._asdict(),
        "id": printable(example.id),
        "words": shades,
        "before": start > 0,
        "after": start + WORDS < len(words),
    }
