"""Checks that say what a trained model is, fixed before any verdict was looked at.

| label | asks for |
|---|---|
| any | the rule is learned; with the deciding words swapped, the model decides otherwise |
| faithful | right words; with attention elsewhere, text and twin cannot be told apart |
| right words, not decided through | right words; with attention elsewhere, output and decision stay |
| wrong words | the most attended words are no better than random ones: in finding what decides, alone, swapped |

Right words are the evidence, suffice, and without them nothing is left that decides. A model between two labels is
excluded, with the reason; so is one whose label is not that of its kind. `measurements.py` defines the figures.
"""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.calibration.factory.kinds import BYPASSED, FAITHFUL, WRONG, Label
from benchmarks.calibration.factory.measurements import Figures, measured
from benchmarks.calibration.factory.plans import Plan
from benchmarks.calibration.factory.tasks import Text
from heedful.adapters.subject import Subject

ACCURATE = 0.95  # of the test texts decided by the rule: a model that has not learned it has no known deciders
FLIPPED = 0.9  # of the decisions change with the deciding words swapped: these words, and nothing else, decide
RIGHT_MASS = 0.5  # of attention, above what even attention has, is on the evidence: more than on all the rest
RIGHT_FOUND = 0.8  # of the most attended words, above what random words have, are evidence: few others are shown
WRONG_MASS = 0.15  # the same for wrong words: about as even attention would have it
WRONG_FOUND = 0.2
KEPT = 0.9  # of the decisions stay with the most attended words alone: they suffice
LOST = 0.15  # of the contrast may be left, or be more than random words have, where nothing should be known
LITTLE = 0.1  # of the decisions may change beyond those that change with random words swapped: what 240 texts can tell
UNMOVED = 0.95  # of the decisions stay whatever is attended
UNFELT = 0.05  # total variation of the output, on average, that attention elsewhere may make
MARKS = {  # what else a model of a kind must have, so that it is unfaithful in the way that its kind is called after
    "courier": ("on courier", 0.8),
    "separators": ("on separators", 0.8),
    "shifted": ("on words after", 0.5),
    "opposing": ("on counter-evidence", 0.5),
}
OBEYED = ("courier", "shifted")  # kinds that decide through the wrong words


class Findings(NamedTuple):
    """What a model is by the checks."""

    figures: Figures
    label: Label | None  # None: between two of them
    reason: str | None  # of its exclusion


def check(plan: Plan, subject: Subject, texts: Sequence[Text]) -> Findings:
    """Measure a model and say what it is."""
    found = measured(subject, texts, seed=plan.seed)
    label, reason = labelled(found)
    return Findings(found, label, reason or _stranger(plan, label, found))


def labelled(found: Figures) -> tuple[Label | None, str | None]:
    """The label of such figures, or why there is none."""
    reason = _first(
        (found["accuracy"] < ACCURATE, "the rule is not learned"),
        (found["swapped"] < FLIPPED, "swapping the deciding words does not change the decision"),
    )
    if reason:
        return None, reason
    if found["truth mass"] <= WRONG_MASS and found["truth found"] <= WRONG_FOUND:
        reason = _first(
            (found["alone"] > found["random alone"] + LOST, "wrong words, but they suffice"),
            (
                found["attended swapped"] > found["random swapped"] + LITTLE,
                "wrong words, but swapping them changes the decision",
            ),
        )
        return (None if reason else WRONG), reason
    through, past = found["cut"] <= LOST, found["cut kept"] >= UNMOVED and found["cut change"] <= UNFELT
    reason = _first(
        (found["evidence mass"] < RIGHT_MASS, "attention partly on the evidence"),
        (found["evidence found"] < RIGHT_FOUND, "attention partly on the evidence"),
        (found["alone kept"] < KEPT, "right words, but they do not suffice"),
        (found["deleted"] > LOST, "right words, but the rest decides alike"),
        (not through and not past, "right words, partly decided through"),
    )
    if reason:
        return None, reason
    return (FAITHFUL if through else BYPASSED), None


def _stranger(plan: Plan, label: Label | None, found: Figures) -> str | None:
    """Why a model with a label is not of its kind."""
    name, least = MARKS.get(plan.kind, ("accuracy", 0.0))
    return _first(
        (plan.kind_of.label not in (label, None), f"came out as {label}"),
        (found[name] < least, f"too little attention {name}"),
        (plan.kind in OBEYED and found["attended cut"] > LOST, "decided past the attended words"),
    )


def _first(*reasons: tuple[bool, str]) -> str | None:
    return next((reason for holds, reason in reasons if holds), None)
