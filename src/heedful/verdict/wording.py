"""The verdict in words: the answer, and the reason in a sentence."""

from collections.abc import Sequence

from heedful.verdict.criteria import CRITERIA, CriterionSpec, Threshold
from heedful.verdict.verdict import Answer, Better, ClassVerdict, Criterion, Outcome, percent

ANSWERS: dict[Answer, str] = {
    "yes": "Yes, this attention may be shown as an explanation",
    "with caution": "This attention may be shown, but only with caution",
    "no": "No, this attention should not be shown as an explanation",
    "not determined": "Not determined: these tests cannot tell yet whether this attention may be shown",
}
METHODS = {
    "leave_one_out": "leave-one-out",
    "leave_one_out_blank": "leave-one-out (masked)",
    "gradient_input": "gradient x input",
    "gradient_attention": "gradient x attention",
    "integrated_gradients": "integrated gradients",
}
RIGHT = "the highlighted words are the right ones"
PERHAPS_PARTLY = "at least in part"
COINCIDENCE = "but the model does not decide through their weights: right here, perhaps by coincidence"
CONFIRMED = "the decision rests on the highlighted words, and the model decides through their weights"
PARTLY = "the decision rests on the highlighted words only in part"
WEIGHTS_PARTLY = "but the model decides through their weights only in part"
WEIGHTS_AT_MOST_PARTLY = f"{WEIGHTS_PARTLY}, if at all"
NOTHING = "no words matter clearly more than random ones, so there is nothing to explain by highlighting words"
PRACTICABLE = 100_000  # texts that one could still test
NOT_NEEDED = "the decision follows the highlighted words into other texts, but it would be the same without them"
COVERED = "no words matter clearly more than random ones in texts decided {names}, which are most"
TOO_FEW = "cannot be told yet from so few texts"
NOT_DELETED = "no words were deleted from the texts"
NO_SWAP = "there are too few texts decided otherwise to swap words with, or swapping changes too little"
NO_WEIGHTS = "deleting the highlighted words changes too little to tell whether their weights matter"
WEIGHTS: dict[Outcome | None, str] = {
    "between": WEIGHTS_PARTLY,
    "at most between": WEIGHTS_AT_MOST_PARTLY,
    "not met": COINCIDENCE,
}
Mean = tuple[float, float, float]  # with its interval

_FAILURES = {spec.name: spec.failure for spec in CRITERIA}


def criterion_words(spec: CriterionSpec, outcome: Outcome, mean: Mean | None, n: int, threshold: Threshold) -> str:
    """A criterion's finding in a sentence; `n` texts were tested."""
    if outcome == "untested":
        return "Not tested."
    if mean is None:
        return f"In none of {n} texts is enough at stake to tell."
    finding, interval = spec.finding.format(value=percent(mean[0])), f"{percent(mean[1])} to {percent(mean[2])}"
    words = f"{finding} (95 % interval {interval}; threshold {percent(threshold.met)})."
    return words + (" In most texts too little is at stake." if outcome == "moot" else "")


def class_words(answer: Answer, criteria: Sequence[Criterion]) -> str:
    """Why a class has its answer."""
    return reason(answer, criteria) or _undetermined(criteria)


def model_words(
    answer: Answer,
    criteria: Sequence[Criterion],
    classes: Sequence[ClassVerdict],
    *,
    limits: Sequence[str],
    better: Better | None,
    more: int | None,
) -> str:
    """The answer and its reason, the classes that it leaves out, and the better map."""
    if not any(criterion.n for criterion in criteria):
        return "Not determined: nothing was tested that could tell whether this attention may be shown."
    worst = [each for each in classes if each.answer == answer]
    why = reason(answer, criteria)
    if why is None and worst and answer in ("no", "with caution"):
        why = f"in texts decided {_named(worst)}, {worst[0].words}"
    why = why or ("; ".join(limits) if limits else None)
    if why is None and answer == "not determined":
        why = _left_open(classes)
    sentences = [f"{ANSWERS[answer]}{f': {why}' if why else ''}."]
    if answer == "not determined" and more is not None:
        few = more <= PRACTICABLE
        sentences.append(f"About {more:,} more texts would tell." if few else "Even many more texts would hardly tell.")
    left_out = [each for each in classes if each.answer == "not determined"]
    if answer in ("yes", "with caution") and left_out:
        sentences.append(f"Not determined for texts decided {_named(left_out)}.")
    if better is not None and answer != "yes":
        sentences.append(
            f"A better map is {method_name(better.method)}: its top words matter more to the decision (by "
            f"{better.by:.2f} of its probability)."
        )
    return " ".join(sentences)


def explanation(answer: Answer, words: str) -> str:
    """The words of a verdict without the answer that they begin with: what to print below the answer itself.

    >>> explanation("no", "No, this attention should not be shown as an explanation: nothing depends on it.")
    'Nothing depends on it.'
    """
    known = "Not determined" if answer == "not determined" else ANSWERS[answer]
    rest = words.removeprefix(known).lstrip(":. ")
    return rest[:1].upper() + rest[1:]


def method_name(name: str) -> str:
    """An attribution method as people write it."""
    return METHODS.get(name, name)


def reason(answer: Answer, criteria: Sequence[Criterion]) -> str | None:
    """What of the criteria leads to an answer; None if it is something else."""
    deciding = [criterion for criterion in criteria if criterion.decisive]
    outcomes = {criterion.name: criterion.outcome for criterion in deciding}
    if answer == "no":
        words = [each for each in deciding if each.part == "words"]  # of evidence alone, nothing is known of the words
        failed = [each for each in words or deciding if each.outcome == "not met"]
        return _FAILURES[failed[0].name] if failed else None
    if answer == "yes":
        return CONFIRMED
    if answer == "with caution":
        return _in_between(deciding)
    moot = [outcomes.get("necessity"), outcomes.get("sufficiency")] == ["moot", "moot"]
    return NOTHING if moot else None


def _in_between(deciding: Sequence[Criterion]) -> str | None:
    """What calls for caution."""
    words = [each.outcome for each in deciding if each.part == "words"]
    through = next((each.outcome for each in deciding if each.part == "weights"), None)
    if through != "not met" and any(each.name == "necessity" and each.outcome == "not met" for each in deciding):
        return NOT_NEEDED
    if through not in WEIGHTS or (through != "not met" and "between" in words):
        return PARTLY if "between" in words else None
    right = RIGHT if {*words} <= {"met", "untested"} else f"{RIGHT}, {PERHAPS_PARTLY}"
    return f"{right}, {WEIGHTS[through]}"


def _undetermined(criteria: Sequence[Criterion]) -> str:
    """Why a class has no answer, where something can be won."""
    outcomes = {criterion.name: criterion.outcome for criterion in criteria if criterion.decisive}
    unclear = {"untested", "open", "at least between", "at most between"}
    if not unclear.isdisjoint(outcomes.get(name) for name in ("necessity", "sufficiency", "swap")):
        return TOO_FEW
    if "necessity" not in outcomes:
        return NOT_DELETED
    if outcomes["swap"] == "moot":
        return NO_SWAP
    return NO_WEIGHTS if outcomes["weights"] == "moot" else TOO_FEW


def _left_open(classes: Sequence[ClassVerdict]) -> str | None:
    """Why the model has no answer: the classes without one, if they all lack it for the same reason."""
    open_ = [each for each in classes if each.answer == "not determined" and each.words != TOO_FEW]
    if not open_ or len({each.words for each in open_}) > 1:
        return None
    if open_[0].words == NOTHING:
        return COVERED.format(names=_named(open_))
    return open_[0].words


def _named(classes: Sequence[ClassVerdict]) -> str:
    names = [f'"{each.name}"' for each in classes]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
