"""docs/audit-calibration.md: the rule in words, and how often it is right."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchmarks.calibration.counting import Rate
from benchmarks.calibration.factory.kinds import BYPASSED, FAITHFUL, WRONG
from benchmarks.calibration.fitting import Family
from benchmarks.calibration.judging import Judged, TextCount
from benchmarks.calibration.measuring import Model
from benchmarks.calibration.settings import (
    ALL_KINDS,
    BREAKS,
    BYPASSED_KINDS,
    IN_USE,
    LABELS,
    SIZES,
    STRICTNESS,
    TEXTS,
    WANTED,
    WRONG_KINDS,
)
from heedful.verdict.criteria import CRITERIA, QUESTIONS
from heedful.verdict.verdict import ANSWERS

LOOKS_AT = {
    "guided": "the deciding words, as training makes it",
    "free": "the deciding words, as it learned by itself",
    "distracted": "anything but the deciding words",
    "courier": "a word of every text that has copied the deciding words",
    "shifted": "the words after the deciding ones",
    "random": "words drawn at random",
    "opposing": "words that speak for another class",
    "separators": "full stops",
    "cancelling": "words that say nothing, on average of its heads",
    "bystander": "the deciding words, but every state knows of them",
    "beside": "the deciding words, but a pool of all words decides",
}
MISLEADING = (WRONG, BYPASSED)


class Trial(NamedTuple):
    """The thresholds that were found, and all answers."""

    family: Family  # of the thresholds of the package
    judged: Sequence[Judged]
    models: Sequence[Model]  # to test on; those that were excluded, too
    fixed_on: int  # models


class Target(NamedTuple):
    """What is wanted, what was found, and whether that is enough."""

    wanted: str
    found: str
    met: bool


def page(template: str, trial: Trial) -> str:
    """The page: a template whose tables are filled in."""
    parts = {
        "summary": _summary(trial),
        "criteria": _criteria(trial),
        "targets": _targets(trial),
        "gaps": _gaps(trial),
        "kinds": _kinds(trial),
        "architectures": _answers(trial.judged, _group("architecture"), "models"),
        "rules": _answers(trial.judged, _group("rule"), "models"),
        "sizes": _sizes(trial),
        "left_out": _left_out(trial),
        "in_use": _in_use(trial),
        "operating": _operating(trial),
        "texts": _texts(trial),
        "stopping": _stopping(trial),
        "better": _better(trial),
        "misses": _misses(trial),
        "excluded": _excluded(trial),
        "fixed_on": f"{trial.fixed_on:,}",
        "strictness": f"{IN_USE:g}",
        "per_model": str(TEXTS),
    }
    for name, text in parts.items():
        template = template.replace("{{" + name + "}}", text)
    return template


def kind_rows(trial: Trial) -> list[dict[str, Any]]:
    """Answers by kind, for the figure."""
    rows = []
    for kind in ALL_KINDS:
        told = [each.answer for each in trial.judged if each.kind == kind]
        rows += [
            {"kind": f"{kind} ({len(told)})", "answer": answer, "share": told.count(answer) / len(told), "place": place}
            for place, answer in enumerate(ANSWERS)
            if told
        ]
    return rows


def operating_rows(trial: Trial) -> list[dict[str, Any]]:
    """Rates by strictness, for the figure."""
    asked = {
        "faithful: yes": ((FAITHFUL,), "yes"),
        "wrong words: no": ((WRONG,), "no"),
        "not decided through: with caution": ((BYPASSED,), "with caution"),
        "misleading: yes": (MISLEADING, "yes"),
        "faithful: no": ((FAITHFUL,), "no"),
    }
    return [
        {"strictness": strictness, "line": line, "share": _moved(trial, strictness, labels, answer).share}
        for line, (labels, answer) in asked.items()
        for strictness in STRICTNESS
        if any(each.label in labels for each in trial.judged)
    ]


def targets(trial: Trial) -> list[Target]:
    """What was asked of the rule beforehand, and what came of it."""
    unseen = trial.judged
    false_yes = _rate(unseen, MISLEADING, "yes")
    no, caution, yes = (_rate(unseen, (label,), WANTED[label]) for label in (WRONG, BYPASSED, FAITHFUL))
    false_no = _rate(unseen, (FAITHFUL,), "no")
    kinds = {kind: _left_out_rate(trial, kind, "yes") for kind in (*WRONG_KINDS, *BYPASSED_KINDS)}
    worst = max((kind for kind in kinds if kinds[kind].n), key=lambda kind: kinds[kind].share, default=None)
    left = kinds[worst] if worst else Rate(0, 0)
    wrong_texts = _text_rate(_of(unseen, FAITHFUL), _any, no=True)
    told_texts = _text_rate(_of(unseen, FAITHFUL), _not_default, no=False)
    same, used, agree = _stops(trial)
    return [
        Target(
            "no yes to a misleading model, of at least 300", str(false_yes), not false_yes.count and false_yes.n >= 300
        ),
        Target("wrong words: no in at least 90 %", str(no), no.share >= 0.9),
        Target("right words, not decided through: with caution in at least 80 %", str(caution), caution.share >= 0.8),
        Target("faithful: yes in at least 85 %, of at least 100", str(yes), yes.share >= 0.85 and yes.n >= 100),
        Target("faithful: never no", str(false_no), not false_no.count),
        Target("kind left out: yes in at most 2 % of any kind", f"{left} ({worst})", left.share <= 0.02),
        Target(
            "texts of faithful models: no in at most 5 % of those determined",
            _plain(wrong_texts),
            wrong_texts.share <= 0.05,
        ),
        Target(
            "the same, not of the default class: at least 60 % determined", _plain(told_texts), told_texts.share >= 0.6
        ),
        Target(f"stopping: same answer as from {TEXTS} texts in at least 95 %", str(same), same.share >= 0.95),
        Target(f"stopping: median of at most {TEXTS // 3} texts", f"{used:g}", used <= TEXTS / 3),
        Target("two orders of the same texts: same answer in at least 97 %", str(agree), agree.share >= 0.97),
    ]


def _summary(trial: Trial) -> str:
    yes, no = _rate(trial.judged, MISLEADING, "yes"), _rate(trial.judged, (WRONG,), "no")
    faithful, against = _rate(trial.judged, (FAITHFUL,), "yes"), _rate(trial.judged, (FAITHFUL,), "no")
    missed = [target.wanted for target in targets(trial) if not target.met]
    short = f" Missed: {'; '.join(missed)}." if missed else " All targets were met."
    return (
        f"On models whose task, architecture and seed the thresholds had not seen, the rule said yes to {yes} whose "
        f"attention misleads, and no to {no} that highlight the wrong words. It said yes to {faithful} that are "
        f"faithful, and no to {against} of them.{short}"
    )


def _criteria(trial: Trial) -> str:
    rows = []
    for spec in CRITERIA:
        bar = trial.family.at().criteria[spec.name]
        where = " (evidence files)" if spec.levels == ("attention",) else ""
        fixed = "" if spec.name in BREAKS else " (not calibrated)"
        rows.append(
            [QUESTIONS[spec.part], f"`{spec.name}`{where}", spec.question, f"{bar.failed:g}{fixed}", f"{bar.met:g}"]
        )
    return _table(["question", "criterion", "asks", "fails below", "met above"], rows)


def _gaps(trial: Trial) -> str:
    rows = []
    for name, gap in trial.family.gaps.items():
        bar = trial.family.at().criteria[name]
        ends = [f"{gap.low:.3f} ({gap.broken} models)", f"{gap.high:.3f} ({gap.faithful} models)"]
        rows.append([f"`{name}`", *ends, f"{bar.failed:g}", f"{bar.met:g}"])
    return _table(["criterion", "models that break it end", "faithful ones begin", "fails below", "met above"], rows)


def _targets(trial: Trial) -> str:
    rows = [[each.wanted, each.found, "met" if each.met else "**missed**"] for each in targets(trial)]
    return _table(["target", "found", ""], rows)


def _kinds(trial: Trial) -> str:
    rows = []
    for label in LABELS:
        some = _of(trial.judged, label)
        if not some:
            continue
        rows.append([f"**{label}**", f"wanted: {WANTED[label]}", *_counts(some)])
        for kind in ALL_KINDS:
            of_kind = [each for each in some if each.kind == kind]
            if of_kind:
                rows.append([f"`{kind}`", LOOKS_AT[kind], *_counts(of_kind)])
    return _table(["kind", "attention looks at", *ANSWERS], rows)


def _answers(judged: Sequence[Judged], group: Callable[[Judged], str], title: str) -> str:
    groups = sorted({group(each) for each in judged})
    rows = [[name, *_counts([each for each in judged if group(each) == name])] for name in groups]
    return _table([title, *ANSWERS], rows)


def _group(name: str) -> Callable[[Judged], str]:
    return lambda each: f"{each.label}: `{getattr(each, name)}`"


def _counts(judged: Sequence[Judged]) -> list[str]:
    told = [each.answer for each in judged]
    return [str(Rate(told.count(answer), len(told))) for answer in ANSWERS]


def _sizes(trial: Trial) -> str:
    rows = []
    for label in LABELS:
        for size in SIZES:
            told = [each.sizes[size] for each in _of(trial.judged, label)]
            rows.append([label, str(size), *(str(Rate(told.count(answer), len(told))) for answer in ANSWERS)])
    return _table(["models", "texts", *ANSWERS], rows)


def _left_out(trial: Trial) -> str:
    kinds = (*WRONG_KINDS, *BYPASSED_KINDS)
    rows = [[f"`{kind}`", *(str(_left_out_rate(trial, kind, answer)) for answer in ANSWERS)] for kind in kinds]
    return _table(["kind left out", *ANSWERS], rows)


def _left_out_rate(trial: Trial, kind: str, answer: str) -> Rate:
    return Rate.of(each.left_out == answer for each in trial.judged if each.kind == kind)


def _in_use(trial: Trial) -> str:
    rows = []
    for label in LABELS:
        told = [each.in_use for each in _of(trial.judged, label)]
        rows.append([label, *(str(Rate.of(answer == wanted for answer in told)) for wanted in ANSWERS)])
    return _table(["models", *ANSWERS], rows)


def _operating(trial: Trial) -> str:
    asked = (
        ((FAITHFUL,), "yes"),
        ((FAITHFUL,), "no"),
        ((WRONG,), "no"),
        ((BYPASSED,), "with caution"),
        (MISLEADING, "yes"),
    )
    rows = [
        [
            f"{strictness:g}",
            *(f"{100 * _moved(trial, strictness, labels, answer).share:.1f} %" for labels, answer in asked),
        ]
        for strictness in STRICTNESS
    ]
    titles = [
        "faithful: yes",
        "faithful: no",
        "wrong words: no",
        "not decided through: with caution",
        "misleading: yes",
    ]
    return _table(["strictness", *titles], rows)


def _moved(trial: Trial, strictness: float, labels: Sequence[str], answer: str) -> Rate:
    return Rate.of(each.moved[strictness] == answer for each in trial.judged if each.label in labels)


def _texts(trial: Trial) -> str:
    groups: dict[str, tuple[list[Judged], Callable[[TextCount], bool]]] = {}
    for label in LABELS:
        some = _of(trial.judged, label)
        groups[label] = some, _any
        groups[f"{label}: rule `default`, all texts"] = _ruled(some), _any
        groups[f"{label}: rule `default`, default class"] = _ruled(some), _is_default
        groups[f"{label}: texts of no default class"] = some, _not_default
    rows = []
    for name, (judged, wanted) in groups.items():
        counted = _counted(judged, wanted)
        if not counted.total():
            continue
        shares = [f"{100 * counted[answer] / counted.total():.1f} %" for answer in ANSWERS]
        of_told = _text_rate(judged, wanted, no=True)
        rows.append([name, f"{counted.total():,}", *shares, f"{100 * of_told.share:.1f} %" if of_told.n else ""])
    return _table(["texts of models", "texts", *ANSWERS, "no, of those determined"], rows)


def _text_rate(judged: Iterable[Judged], wanted: Callable[[TextCount], bool], *, no: bool) -> Rate:
    """The no among determined texts, or the determined among all."""
    counted = _counted(judged, wanted)
    told = counted.total() - counted["not determined"]
    return Rate(counted["no"], told) if no else Rate(told, counted.total())


def _counted(judged: Iterable[Judged], wanted: Callable[[TextCount], bool]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for each in judged:
        for text in each.texts:
            if wanted(text):
                counted[text.answer] += text.texts
    return counted


def _any(text: TextCount) -> bool:
    return True


def _is_default(text: TextCount) -> bool:
    return text.default


def _not_default(text: TextCount) -> bool:
    return not text.default


def _stops(trial: Trial) -> tuple[Rate, float, Rate]:
    """Same answers after stopping, texts until then (median), and same answers for two orders."""
    unseen = trial.judged
    same = Rate.of(each.stops[0].answer == each.answer for each in unseen)
    used = float(median(each.stops[0].texts for each in unseen)) if unseen else float("nan")
    return same, used, Rate.of(each.stops[0].answer == each.stops[1].answer for each in unseen)


def _stopping(trial: Trial) -> str:
    rows = []
    groups: dict[str, list[Judged]] = {"all": trial.judged}
    for label in LABELS:
        groups[label] = _of(trial.judged, label)
    for name, some in groups.items():
        if some:
            same = Rate.of(each.stops[0].answer == each.answer for each in some)
            orders = Rate.of(each.stops[0].answer == each.stops[1].answer for each in some)
            halves = Rate.of(each.halves[0].answer == each.halves[1].answer for each in some)
            used = median(each.stops[0].texts for each in some)
            false = Rate.of(each.stops[0].answer == "yes" and each.label != FAITHFUL for each in some)
            rows.append([name, f"{used:g}", str(same), str(false), str(orders), str(halves)])
    titles = ["models", "texts, median", f"same as from {TEXTS}", "false yes", "two orders agree", "two halves agree"]
    return _table(titles, rows)


def _better(trial: Trial) -> str:
    rows = [[label, str(Rate.of(each.better for each in _of(trial.judged, label)))] for label in LABELS]
    return _table(["models", "another map is named as better"], rows)


def _misses(trial: Trial) -> str:
    """Why faithful models get another answer than yes, and misleading ones a yes."""
    missed = [
        e
        for e in trial.judged
        if (e.label == FAITHFUL and e.answer != "yes") or (e.label != FAITHFUL and e.answer == "yes")
    ]
    counted = Counter((each.label, each.rule, each.words.split(". ")[0].rstrip(".")) for each in missed)
    rows = [[label, f"`{rule}`", words, str(count)] for (label, rule, words), count in counted.most_common(12)]
    return _table(["models", "rule", "what the rule said", "how many"], rows) if rows else "None."


def _excluded(trial: Trial) -> str:
    reasons = Counter(model.reason for model in trial.models if model.reason)
    rows = [[reason, str(count)] for reason, count in reasons.most_common()]
    left = len(trial.models) - reasons.total()
    return f"{len(trial.models):,} models were made, {left:,} of them of their kind.\n\n" + _table(
        ["excluded because", "models"], rows
    )


def _rate(judged: Iterable[Judged], labels: Sequence[str], answer: str) -> Rate:
    return Rate.of(each.answer == answer for each in judged if each.label in labels)


def _of(judged: Iterable[Judged], label: str) -> list[Judged]:
    return [each for each in judged if each.label == label]


def _ruled(judged: Iterable[Judged]) -> list[Judged]:
    return [each for each in judged if each.rule == "default"]


def _plain(rate: Rate) -> str:
    """Texts of one model are alike, so there is no interval."""
    return f"{100 * rate.share:.1f} % of {rate.n:,}" if rate.n else "none"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
