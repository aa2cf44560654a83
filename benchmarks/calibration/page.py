"""docs/audit-calibration.md: the rule in words, and what it is worth."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from benchmarks.calibration.counting import ANSWERS, Rate, operating, rates
from benchmarks.calibration.fitting import Family
from benchmarks.calibration.measuring import Case
from benchmarks.calibration.planted import UNFAITHFUL
from benchmarks.calibration.settings import FIXED, FIXED_SEEDS, INSTANCES, STEPS, UNSEEN, UNSEEN_SEEDS, Setting
from heedful.verdict.criteria import CRITERIA, LevelThresholds
from heedful.verdict.rule import FEW, criteria_of, judge_instances
from heedful.verdict.signals import Level

QUANTITIES = {
    "permutation": "median TVD of the output under permuted weights, mean over instances",
    "lead": "share of instances in which comprehensiveness is higher in the order of attention than in random order "
    "(a tie counts half)",
    "against": "share of instances in which the probability of the decision rises without the most attended item",
    "race": "what attention gains in comprehensiveness over random order, as a share of what the best method gains: a "
    "ratio of means",
    "replacement": "TVD of the output under uniform weights, mean over instances",
}
KINDS = {
    "faithful": "the words that decide",
    "random": "any words: every word has an attention of its own, whatever it says",
    "distracted": "words that say nothing",
    "opposing": "words that speak for another class",
    "unused": "the words that decide, but the head hardly uses it",
    "shifted": "states that are about the word before: the map shows the wrong words",
}


class Outcome(NamedTuple):
    """All that the page tells."""

    families: dict[Level, Family]
    bars: dict[Level, LevelThresholds]
    unseen: list[Case]
    steps: list[Case]


def page(told: Outcome, template: str) -> str:
    """The page: a template whose tables are filled in."""
    parts = {
        "criteria": _criteria(told.bars),
        "anchors": _anchors(told),
        "kinds": _table(["kind", "attention looks at"], [[f"`{kind}`", where] for kind, where in KINDS.items()]),
        "settings": _settings(),
        "rates": _rates(told, "input"),
        "rates_attention": _rates(told, "attention"),
        "operating": _operating(told),
        "steps": _steps(told),
        "instances": _instances(told),
        "few": str(FEW),
        "per_subject": str(INSTANCES),
        "fixed_subjects": _subjects(FIXED, FIXED_SEEDS),
        "unseen_subjects": _subjects(UNSEEN, UNSEEN_SEEDS),
        "better": _better(told),
        "short": _short(told),
    }
    for name, text in parts.items():
        template = template.replace("{{" + name + "}}", text)
    return template


def step_rows(told: Outcome) -> list[dict[str, float | str | int]]:
    """Answers by how much comes through attention."""
    found = {through: rates(_through(told, through), "input", told.bars["input"]) for through in STEPS}
    return [
        {"through": through, "answer": name, "count": by[name].count, "place": place}
        for through, by in found.items()
        for place, name in enumerate(ANSWERS)
    ]


def _through(told: Outcome, through: float) -> list[Case]:
    return [case for case in told.steps if case.plan.through == through]


def _criteria(bars: dict[Level, LevelThresholds]) -> str:
    rows = [
        [
            f"`{spec.name}`{' (decisive)' if spec.decisive else ''}",
            spec.question,
            QUANTITIES[spec.name],
            *(f"{'≥' if spec.least else '≤'} {getattr(bars[level], spec.name):.3f}" for level in bars),
        ]
        for spec in CRITERIA
    ]
    return _table(["criterion", "question", "quantity", "at the input", "at the attention"], rows)


def _anchors(told: Outcome) -> str:
    rows = [
        [f"`{spec.name}`"]
        + [f"{side[spec.name]:.3f}" for family in told.families.values() for side in (family.broken, family.faithful)]
        for spec in CRITERIA
    ]
    return _table(["criterion", "input: others end", "faithful begin", "attention: others end", "faithful begin"], rows)


def _settings() -> str:
    rows = [
        [
            name,
            plan.encoder,
            plan.length,
            plan.deciding,
            plan.classes,
            plan.noise,
            plan.blur,
            plan.contrary,
            plan.sure,
            most,
            least,
        ]
        for name, settings in (("fixed", FIXED), ("unseen", UNSEEN))
        for plan, most, least in settings
    ]
    titles = "set, encoder, length, deciding, classes, noise, blur, contrary, sure, through: faithful, others".split(
        ", "
    )
    return _table(titles, [[str(value) for value in row] for row in rows])


def _subjects(settings: Sequence[Setting], seeds: dict[bool, range]) -> str:
    faithful, others = len(seeds[True]), len(seeds[False])
    return (
        f"{len(settings)} settings, {len(settings) * faithful} faithful subjects (seeds {_span(seeds[True])}) and "
        f"{len(settings) * others * len(UNFAITHFUL)} others (seeds {_span(seeds[False])})"
    )


def _span(seeds: range) -> str:
    return f"{seeds[0]} to {seeds[-1]}"


def _rates(told: Outcome, level: Level) -> str:
    groups = {"**faithful**": ["faithful"], **{f"`{kind}`": [kind] for kind in UNFAITHFUL}}
    groups["**all others**"] = [kind for kind in UNFAITHFUL if level == "input" or kind != "shifted"]
    rows = []
    for name, kinds in groups.items():
        found = rates([case for case in told.unseen if case.plan.kind in kinds], level, told.bars[level])
        rows.append([name, *(str(found[said]) for said in ANSWERS)])
    yes = "yes" if level == "input" else "all met"
    label = "attention" if level == "input" else "attention (all others: without `shifted`)"
    return _table([label, yes, "with caution" if level == "input" else "open", "no"], rows)


def _operating(told: Outcome) -> str:
    by_level = {
        level: {row["strictness"]: row for row in operating(seen_cases(told, level), level, told.families[level])}
        for level in told.bars
    }
    rows = [
        [f"{strictness:g}"]
        + [
            f"{100 * float(found[strictness][name]):.0f} %"
            for found in by_level.values()
            for name in ("true yes", "false yes")
        ]
        + [f"{100 * float(by_level['input'][strictness][name]):.0f} %" for name in ("true no", "false no")]
        for strictness in (-2.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
    ]
    titles = ["strictness", "input: true yes", "false yes", "attention: true", "false", "input: true no", "false no"]
    return _table(titles, rows)


def seen_cases(told: Outcome, level: Level) -> list[Case]:
    """Unseen subjects, as far as a level can tell them apart."""
    return [case for case in told.unseen if level == "input" or case.plan.kind != "shifted"]


def _steps(told: Outcome) -> str:
    found = [rates(_through(told, through), "input", told.bars["input"]) for through in STEPS]
    rows = [[name, *(str(by[name].count) for by in found)] for name in ANSWERS]
    return _table(["answer", *(f"{through:.1f}" for through in STEPS)], rows)


def _instances(told: Outcome) -> str:
    """Answers for single instances; of these there are many, and those of one subject are alike: no interval."""
    rows = []
    for name, kinds in {
        "faithful": ("faithful",),
        "all others": UNFAITHFUL,
        **{f"`{k}`": (k,) for k in UNFAITHFUL},
    }.items():
        frames = [
            judge_instances(case.signals["input"].lazy(), case.found["input"].best, told.bars["input"], "input")
            for case in told.unseen
            if case.plan.kind in kinds
        ]
        answers = pl.concat(frames).collect()["answer"]
        counts = [int((answers == said).sum()) for said in ANSWERS]
        rows.append([name, *(f"{100 * count / len(answers):.1f} %" for count in counts), f"{len(answers):,}"])
    return _table(["attention", *ANSWERS, "instances"], rows)


def _short(told: Outcome) -> str:
    """What keeps faithful attention from a yes."""
    faithful = [case for case in told.unseen if case.plan.faithful]
    criteria = [c for case in faithful for c in criteria_of(case.found["input"], told.bars["input"])]
    rows = [
        [
            f"`{spec.name}`",
            *(
                str(sum(c.name == spec.name and c.outcome == outcome for c in criteria))
                for outcome in ("met", "open", "not met")
            ),
        ]
        for spec in CRITERIA
    ]
    return _table([f"criterion, {len(faithful)} faithful subjects", "met", "open", "not met"], rows)


def _better(told: Outcome) -> str:
    """How often another map is called better."""
    rows = []
    for name, kinds in {
        "faithful": ("faithful",),
        "`unused`": ("unused",),
        "the rest": ("random", "distracted", "opposing", "shifted"),
    }.items():
        cases = [case for case in told.unseen if case.plan.kind in kinds]
        named = [any(rival.low > told.bars["input"].better for rival in case.found["input"].rivals) for case in cases]
        rows.append([name, str(Rate(sum(named), len(named)))])
    return _table(["attention", "another map is called better"], rows)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
