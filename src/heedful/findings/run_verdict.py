"""What a run's tests say about showing its attention as an explanation: each test in words, then all together.

Each test speaks for attention, against it, or cannot tell; docs/report.md lists the rules. None of them is the answer
by itself, and thresholds are conventions.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import polars as pl

from heedful.experiments import claims
from heedful.files import scan_parquet
from heedful.findings.key_figures import DRAWS, KeyFigure
from heedful.findings.run_facts import several_sentences
from heedful.measures import bootstrap
from heedful.printable import figure, percent
from heedful.runs.directory import STAGES, Run

AGREES = 0.5  # a tau from which on attention ranks items much as importance does
DIFFERS = 0.3  # and one below which it hardly does
MOVES = 0.1  # a TVD from which on shuffling is felt
COSTS = 0.01  # accuracy that a model must lose by equal weights
OFTEN = 0.1  # a share of instances that is too much
FEW = 30  # instances: of fewer, a bootstrap interval is too narrow to tell anything (of one, it has no width)

_WEIGHTS = "Does it matter which item has which weight?"
_NEEDED = "Does the model need its own weights?"
_SOONER = "Do attended items decide sooner than random ones?"
_AS_SOON = "Do they decide as soon as those that the gradient names?"
_ARGUES = "Does the most attended item argue for the decision?"
_RANKS = "Does attention rank items as importance does?"

Side = Literal["for", "against", "undecided", "unknown"]
Figures = Mapping[str, KeyFigure | None]


class Sign(NamedTuple):
    """What one test says."""

    test: str
    side: Side
    words: str
    question: str  # whose yes speaks for attention


class Verdict(NamedTuple):
    """What all of them say."""

    words: str
    signs: list[Sign]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"words": self.words, "speaks": [sign._asdict() for sign in self.signs]}


def verdict(run: Run, figures: Figures) -> Verdict:
    """Weigh a run's tests; what was not performed is unknown, and said so."""
    signs = [
        _shuffled(run, figures),
        _replaced(run),
        *_removals(run),
        _violation(run, figures),
        _agreement(run, figures),
    ]
    sides = [sign.side for sign in signs]
    told = len(sides) - sides.count("unknown")
    against, speaking = sides.count("against"), sides.count("for")
    speak = "speaks" if against == 1 else "speak"
    if not told:
        words = "Nothing was tested that could tell whether this attention explains anything."
    elif against and (2 * against > told or not speaking):
        words = (
            f"{against} of {told} tests {speak} against showing this attention as an explanation, "
            f"{speaking or 'none'} for it."
        )
    elif against:
        words = f"The tests disagree: of {told}, {speaking} speak for this attention and {against} against it."
    elif 2 * speaking > told:
        words = f"None of {told} tests speaks against this attention, and {speaking} speak for it."
    else:
        words = f"None of {told} tests speaks against this attention, but only {speaking} for it."
    return Verdict(words, signs)


def _shuffled(run: Run, figures: Figures) -> Sign:
    moved = figures["permuted_tvd"]
    if moved is None:
        return _unknown(run, "permutation", _WEIGHTS)
    side: Side = "for" if moved.low > MOVES else "against" if moved.high < MOVES else "undecided"
    felt = {"for": "it matters which item has which weight", "against": "which item has which weight hardly matters"}
    words = (
        f"Shuffled weights move the output by {figure(moved.value)} (TVD): {felt.get(side, 'neither much nor little')}."
    )
    return _unless_few(Sign("permutation", side, words, _WEIGHTS), moved.n)


def _replaced(run: Run) -> Sign:
    """Whether equal weights would do: the model's own must be right more often."""
    if not run.done("substitution"):
        return _unknown(run, "substitution", _NEEDED)
    frame = scan_parquet(run.folder / STAGES["substitution"].files[0])
    found = frame.select("label", "decision", "uniform_decision").collect()
    if found["label"].is_null().all():
        return Sign(
            "substitution", "unknown", "Without labels nobody can say whether equal weights would do as well.", _NEEDED
        )
    own, uniform = (  # an instance without a label counts as missed, as in all scores
        (found[name] == found["label"]).fill_null(False).cast(pl.Float64).to_numpy()
        for name in ("decision", "uniform_decision")
    )
    gain = bootstrap(own - uniform, seed=run.config.seed, draws=DRAWS)
    side: Side = "undecided"
    if gain is not None and not gain.low <= COSTS <= gain.high:
        side = "for" if gain.low > COSTS else "against"
    told = {"for": "The model needs its weights", "against": "Equal weights do as well"}
    words = told.get(side, "Whether equal weights do as well cannot be told")
    how = f"{percent(float(uniform.mean()))} right with equal weights, {percent(float(own.mean()))} with its own"
    return _unless_few(Sign("substitution", side, f"{words} ({how}).", _NEEDED), len(own))


def _removals(run: Run) -> list[Sign]:
    """Whether attended items decide: sooner than random ones, and not later than those that the gradient names."""
    if not run.done("removal"):
        return [_unknown(run, "removal", question) for question in (_SOONER, _AS_SOON)]
    names = ("items", "attention_count", "gradient_count", "gradient_attention_count", "random_count")
    frame = scan_parquet(run.folder / STAGES["removal"].files[0])
    there = [name for name in names if name in frame.collect_schema().names()]
    told = claims(None, frame.select("id", *there).collect(), only=several_sentences(run))
    holds = dict(zip(told["claim"], told["holds"], strict=True))
    shares = dict(zip(told["claim"], zip(told["share"], told["against"], strict=True), strict=True))
    return [
        _compared(shares, holds, "by attention decisions change sooner than in random order", _SOONER),
        _compared(shares, holds, "by gradient decisions change sooner than by attention", _AS_SOON),
    ]


def _compared(
    shares: Mapping[str, tuple[float | None, float | None]],
    holds: Mapping[str, bool | None],
    claim: str,
    question: str,
) -> Sign:
    ahead, behind = shares[claim]
    if ahead is None:
        return Sign("removal", "unknown", "Removal was not performed in all the orders that this takes.", question)
    counted = f"({percent(ahead)} of the instances against {percent(behind)})"
    if holds[claim] is None:
        return Sign("removal", "undecided", f"It cannot be told whether {claim} {counted}.", question)
    side: Side = "for" if holds[claim] == (question == _SOONER) else "against"
    if holds[claim]:
        return Sign("removal", side, f"{claim[0].upper()}{claim[1:]} {counted}.", question)
    return Sign("removal", side, f"It is not so that {claim}: it is the other way round {counted}.", question)


def _violation(run: Run, figures: Figures) -> Sign:
    share = figures["violates"]
    if share is None:
        return _unknown(run, "violation", _ARGUES)
    side: Side = "for" if share.high < OFTEN else "against" if share.low > OFTEN else "undecided"
    words = f"The most attended item argues against the decision in {percent(share.value)}."
    return _unless_few(Sign("violation", side, words, _ARGUES), share.n)


def _agreement(run: Run, figures: Figures) -> Sign:
    taus = {"the gradient": figures["tau_gradient"], "leave-one-out": figures["tau_leave_one_out"]}
    known = {name: tau for name, tau in taus.items() if tau is not None}
    if not known:
        return _unknown(run, "correlation", _RANKS)
    agrees, differs = (
        all(tau.low > AGREES for tau in known.values()),
        all(tau.high < DIFFERS for tau in known.values()),
    )
    side: Side = "for" if agrees else "against" if differs else "undecided"
    told = " and ".join(f"{figure(tau.value)} with {name}" for name, tau in known.items())
    words = {
        "for": "much as importance does",
        "against": "quite unlike importance",
        "undecided": "somewhat as importance",
    }
    sign = Sign("correlation", side, f"Attention ranks items {words[side]} (Kendall's tau {told}).", _RANKS)
    return _unless_few(sign, min(tau.n for tau in known.values()))


def _unknown(run: Run, test: str, question: str) -> Sign:
    """A test that cannot say anything of a run."""
    said = "says nothing of any instance" if run.done(test) else "was not performed"
    return Sign(test, "unknown", f"{test.capitalize()} {said}.", question)


def _unless_few(sign: Sign, n: int) -> Sign:
    """What a test says of so many instances."""
    if n >= FEW:
        return sign
    noun = "instance is" if n == 1 else "instances are"
    return sign._replace(side="undecided", words=f"{sign.test.capitalize()}: {n} {noun} too few to tell.")
