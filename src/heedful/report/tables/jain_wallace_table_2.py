"""Does attention rank items as gradients and leave-one-out do? Table 2 of Jain & Wallace 2019."""

from collections.abc import Iterable

import polars as pl

from heedful.experiments import estimates
from heedful.experiments.summary import SIGNIFICANT
from heedful.printable import FEW_CLASSES
from heedful.report.beside import measures_taken, published_tau
from heedful.report.tables.caveats import caveats
from heedful.report.tables.columns import estimate, number, published, share, told
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column

ALL = "all"


def _rows(source: Source) -> Iterable[Cells]:
    frame, run = source.results("correlation"), source.run
    measures = measures_taken(frame.columns)
    few = len(run.classes) <= FEW_CLASSES
    groups = [*(sorted(frame["decision"].unique().to_list()) if few else []), None]
    quantities = [
        column
        for name in measures
        for column in (
            pl.col(f"tau_attention_{name}").alias(f"tau {name}"),
            (pl.col(f"p_attention_{name}") <= SIGNIFICANT).alias(f"significant {name}"),
        )
    ]
    found = {}
    for group in groups:
        some = frame if group is None else frame.filter(pl.col("decision") == group)
        found[group] = estimates(some.select(quantities), seed=SEED, draws=DRAWS)
    for measure in measures:
        for group in groups:
            tau, paper = found[group][f"tau {measure}"], published_tau(run, measure, group)
            yield {
                "importance": measure.replace("_", "-"),
                "decided": ALL if group is None else run.classes[group],
                "n": tau.n,
                "undefined": tau.undefined,
                **told("tau", tau, std=True),
                **told("significant", found[group][f"significant {measure}"]),
                "paper_tau": paper and paper.mean,
                "paper_tau_std": paper and paper.std,
                "paper_significant": paper and paper.significant,
            }


TABLE_2 = Layout(
    name="jain-wallace-table-2",
    title="Kendall's tau of attention and importance",
    caption=(
        "As Table 2 of Jain & Wallace 2019, whose figures stand beside ours: does attention rank the items of a text "
        "as the gradient does, or as leaving out each one in turn does? By decided class, where classes are few, and "
        "over all. Mean±standard deviation over instances. The paper has figures for the BiLSTM and, with gradients, "
        "for Average, with additive attention, and gives no interval."
    ),
    columns=(
        Column("importance", "importance", meaning="What attention is compared with."),
        Column("decided", "decided", meaning="The class that was decided for; all: whatever it was."),
        number("n", "n", "Instances in which tau is defined."),
        number("undefined", "undefined", "Instances in which it is not: one item only, or constant values."),
        *estimate("tau", "tau", "Kendall's tau-b of attention and importance over a text's items.", std=True),
        *share("significant", "p≤0.05", "Share of instances in which tau differs from 0 significantly."),
        published("tau", "Tau in the paper."),
        Column(
            *("paper_tau_std", "in the paper, standard deviation", "figure", 2, "Standard deviation in the paper."),
            published=True,
            part="std",
            of="paper_tau",
        ),
        published("significant", "Share of significant instances in the paper.", kind="percent", digits=0),
    ),
    rows=_rows,
    needs=("correlation",),
    every=caveats,
)
