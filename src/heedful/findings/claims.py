"""The two papers' claims as a checklist: what speaks for each in these runs, and whether it holds."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from heedful.experiments import claims
from heedful.findings import claim_tests as tests
from heedful.findings.claim_tests import Finding
from heedful.findings.configurations import Configuration
from heedful.findings.labels import labels
from heedful.findings.run_facts import RunFrames, has_learned, several_sentences
from heedful.runs.directory import Run

Verdict = Literal["holds", "does not hold", "undecided", "not testable here"]
_SOONER = "more texts for it than against it, by a sign test"
JAIN_WALLACE, SERRANO_SMITH = "Jain & Wallace 2019", "Serrano & Smith 2019"


class Claim(NamedTuple):
    """What a paper found, and how it is looked for."""

    words: str
    rule: str  # when it holds
    needs: str  # when it can be tested
    test: Callable[[Sequence[Configuration]], Iterable[Finding]]


class Checked(NamedTuple):
    """A claim, looked for."""

    paper: str
    claim: str
    rule: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    reason: str  # why it could not be tested; empty where it was

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**self._asdict(), "findings": [finding._asdict() for finding in self.findings]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Checked":
        """The inverse of `to_json`."""
        findings = (Finding(**{**each, "runs": tuple(each["runs"])}) for each in values["findings"])
        return cls(**{**values, "findings": tuple(findings)})


CLAIMS = (
    *(
        Claim(
            f"attention agrees only modestly with {name} in a BiLSTM",
            f"mean tau below {tests.MODEST:g}",
            "a BiLSTM classifier with correlation",
            tests.weak_agreement(measure),
        )
        for measure, name in (("gradient", "the gradient"), ("leave_one_out", "leave-one-out"))
    ),
    Claim(
        "with the Average encoder attention agrees better with the gradient than with a BiLSTM",
        "difference of mean tau above 0",
        "a BiLSTM and an Average classifier with the same other settings, both with correlation",
        tests.average_agrees_more,
    ),
    Claim(
        "gradient and leave-one-out agree better with each other than attention does with either (BiLSTM)",
        "the smaller difference of mean tau above 0",
        "a BiLSTM classifier with correlation",
        tests.importance_agrees_more,
    ),
    Claim(
        "shuffled weights often move the output little, although one item has most of the attention (BiLSTM)",
        f"median TVD at most {tests.LITTLE:g} in most instances with a weight of {tests.ATTENDED:g} or more",
        f"a BiLSTM classifier with permutation, and {tests.FEW} instances with such a weight",
        tests.shuffling_does_little,
    ),
    Claim(
        "very different attention gives nearly the same output (BiLSTM)",
        f"JSD at least {tests.HIGH:.2f}, half of what is possible, in most instances",
        "a BiLSTM classifier with adversary",
        tests.adversaries_exist,
    ),
    Claim(
        "an exception: for positive diabetes cases shuffling moves the output further than for others",
        "difference of median TVD above 0",
        "a BiLSTM on mimic-diabetes with permutation",
        tests.diabetes_is_moved,
    ),
)


def checklist(all_: Sequence[Configuration]) -> list[Checked]:
    """Every claim of both papers; models that have learned nothing are left out."""
    checked = []
    for claim in CLAIMS:
        findings = tuple(claim.test(all_))
        checked.append(_checked(JAIN_WALLACE, claim.words, claim.rule, findings, claim.needs))
    return checked + _serrano_smith([run for each in all_ for run in each.runs])


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """A claim holds (or does not) if it does in more than half of what was tested."""
    if not findings:
        return "not testable here"
    holding = sum(finding.holds is True for finding in findings)
    failing = sum(finding.holds is False for finding in findings)
    if 2 * holding > len(findings):
        return "holds"
    return "does not hold" if 2 * failing > len(findings) else "undecided"


def _checked(paper: str, claim: str, rule: str, findings: tuple[Finding, ...], needs: str) -> Checked:
    reason = "" if findings else f"needs {needs}, and a model that beats always giving the most frequent class"
    return Checked(paper, claim, rule, verdict_of(findings), findings, reason)


def _serrano_smith(runs: Sequence[Run]) -> list[Checked]:
    found: dict[str, list[Finding]] = {}
    for run, (corpus, model) in zip(runs, labels(runs), strict=True):
        frames = RunFrames(run)
        single, removed = (frames.results(name) if run.done(name) else None for name in ("single_weight", "removal"))
        for row in claims(single, removed, only=several_sentences(run)).iter_rows(named=True):
            known = found.setdefault(row["claim"], [])
            if row["share"] is not None and has_learned(run):
                where = f"{corpus}, {model}"
                about = (row["holds"], row["n"], (run.folder.name,), row["against"])
                known.append(Finding(where, row["share"], None, None, *about))
    rules = dict.fromkeys(found, _SOONER)
    rules |= {claim: "in more than half of the texts" for claim in found if "mostly" in claim}
    if not found:
        found = {"zeroing items in other orders flips decisions sooner than in attention order": []}
        rules = dict.fromkeys(found, _SOONER)
    return [
        _checked(SERRANO_SMITH, claim, rules[claim], tuple(findings), "a run with single_weight and removal")
        for claim, findings in found.items()
    ]
