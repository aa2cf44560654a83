"""What Serrano & Smith 2019 found, looked for in every run."""

from collections.abc import Iterable

from heedful.experiments import claims
from heedful.report.removing import VERDICTS, has_learned, several_sentences
from heedful.report.tables.columns import number
from heedful.report.tables.layout import Cells, Layout
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column


def _rows(source: Source) -> Iterable[Cells]:
    run = source.run
    single, removed = (source.results(name) if run.done(name) else None for name in ("single_weight", "removal"))
    for row in claims(single, removed, only=several_sentences(run)).iter_rows(named=True):
        verdict = VERDICTS[row["holds"]] if row["share"] is not None else None
        yield {**row, "verdict": verdict, "learned": has_learned(run)}


CLAIMS = Layout(
    name="claims",
    title="What Serrano & Smith found, and whether it holds here",
    caption=(
        "Shares of instances that speak for a claim and against it. Who changes decisions sooner is told by a sign "
        "test, Holm-corrected over all pairs of rankings. What is found of a model that has learned nothing is about "
        "nothing: the last column says whether it is right more often than its most frequent class."
    ),
    columns=(
        Column("claim", "claim", meaning="What the paper found."),
        number("n", "n", "Instances of several items (for rankings of words: documents of several sentences)."),
        Column("share", "for", "percent", 1, "Share of instances that speak for the claim."),
        Column("against", "against", "percent", 1, "Share of instances that speak against it."),
        Column("verdict", "verdict", meaning="Whether the claim holds; not significant where chance would do as well."),
        Column(
            "learned", "learned", "flag", meaning="Whether the model is right more often than its most frequent class."
        ),
    ),
    rows=_rows,
    needs=("evidence",),
    better=("single_weight", "removal"),
)
