"""Tables of `heedful compare`: the published figures beside ours, and the papers' claims."""

from collections.abc import Iterator
from typing import Any

from heedful.findings.comparison import RELEASED, WORDS, Compared, Comparison, Side
from heedful.report.tables.layout import CORPUS, MODEL, estimate, number, published_std
from heedful.report.tables.table import Column, Table, Value


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Plain values, as `heedful compare --json` prints them."""
    return {
        "figures": figures_table(comparison).to_json(),
        "claims": [checked.to_json() for checked in comparison.claims],
        "not_published": [each.label for each in comparison.others],
    }


def figures_table(comparison: Comparison) -> Table:
    """One row a figure, for files and programs."""
    rows, runs = [], []
    for side in comparison.sides:
        for row in side.rows:
            rows.append((side.configuration.corpus, side.configuration.model, *_cells(side, row)))
            runs.append(" ".join(run.folder.name for run in side.configuration.runs))
    return Table(
        name="comparison",
        title="Published figures beside ours",
        caption=f"In brackets 95 % intervals over seeds and instances. {WORDS} {RELEASED} {comparison.caveats}".strip(),
        columns=(CORPUS, MODEL, *_COLUMNS),
        rows=tuple(rows),
        runs=tuple(runs),
    )


def _cells(side: Side, row: Compared) -> Iterator[Value]:
    yield from (len(side.configuration.runs), side.random, row.figure, row.decided or "all", row.ours.n)
    yield from (row.ours.mean, row.ours.low, row.ours.high, row.ours.spread)
    for theirs, away in ((row.paper, row.difference("paper")), (row.released, row.difference("released"))):
        yield from (None, None) if theirs is None else theirs
        yield from (None, None, None) if away is None else (away.difference, away.in_std, away.words)


def claims_table(comparison: Comparison) -> Table:
    """One row a claim and configuration, and one for each claim that could not be tested."""
    rows: list[tuple[Value, ...]] = []
    runs = []
    for checked in comparison.claims:
        about = (checked.paper, checked.claim, checked.rule, checked.verdict)
        for found in checked.findings:
            here = {True: "yes", False: "no", None: "cannot be told"}[found.holds]
            rows.append((*about, found.where, here, found.n, found.value, found.low, found.high, found.against, None))
            runs.append(" ".join(found.runs))
        if not checked.findings:
            rows.append((*about, *(None,) * 7, checked.reason))
            runs.append("")
    return Table(
        name="claims",
        title="The papers' claims, and whether they hold here",
        caption="A claim holds here if it does in more than half of the configurations that can tell.",
        columns=_CLAIM_COLUMNS,
        rows=tuple(rows),
        runs=tuple(runs),
    )


def _source(key: str, title: str) -> tuple[Column, ...]:
    far = "Near, not far, or far: by the published deviation, or our interval."
    return (
        Column(key, title, "figure", 2, f"The same figure, {title}.", published=True),
        published_std(key, title, "Over instances."),
        Column(f"{key}_apart", "apart", "signed", 2, "Ours minus that."),
        Column(f"{key}_apart_sd", "sd", "signed", 1, "The same in units of the published standard deviation."),
        Column(f"{key}_words", "how far", meaning=far),
    )


_COLUMNS = (
    number("seeds", "seeds", "Runs that differ only in the seed."),
    Column(
        "random", "random vectors", "flag", meaning="Whether ours began with random word vectors, unlike the paper's."
    ),
    Column("figure", "figure", meaning="What is compared."),
    Column("decided", "decided", meaning="The class that was decided for; all: whatever it was."),
    number("n", "n", "Values that the mean is over: instances of all seeds."),
    *estimate("ours", "ours", "Mean over seeds and instances."),
    Column("spread", "between seeds", "figure", 3, "Standard deviation of the runs' own figures."),
    *_source("paper", "in the paper"),
    *_source("released", "in the released code"),
)
_CLAIM_COLUMNS = (
    Column("paper", "paper", meaning="Which paper."),
    Column("claim", "claim", meaning="What it found."),
    Column("rule", "rule", meaning="When it holds."),
    Column("verdict", "verdict", meaning="Whether it holds over all configurations."),
    Column("where", "where", meaning="The configuration."),
    Column("here", "here", meaning="Whether it holds there."),
    number("n", "n", "Values that this is of."),
    *estimate("value", "value", "What the rule is about."),
    Column("against", "against", "figure", 2, "The share of instances that speak against it."),
    Column("reason", "reason", meaning="Why it could not be tested."),
)
