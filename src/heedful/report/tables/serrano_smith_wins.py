"""Which ranking changes decisions sooner than attention: Serrano & Smith 2019, section 5."""

from collections.abc import Iterable

import polars as pl

from heedful.experiments import removal_wins
from heedful.report.beside import published_wins
from heedful.report.removing import several_sentences
from heedful.report.tables.caveats import caveats
from heedful.report.tables.columns import number, published, share
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.rankings import ranking_name
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column


def _rows(source: Source) -> Iterable[Cells]:
    wins = removal_wins(source.results("removal"), only=several_sentences(source.run), seed=SEED, draws=DRAWS)
    for row in wins.filter(pl.col("first") == "attention").iter_rows(named=True):
        yield {
            "rival": ranking_name(row["second"]),
            "n": row["n"] + row["neither"],
            **{f"rival_wins{end}": row[f"second_all{end}"] for end in ("", "_low", "_high")},
            "paper_rival_wins": published_wins(source.run) if row["second"] == "gradient" else None,
            **{f"attention_wins{end}": row[f"first_all{end}"] for end in ("", "_low", "_high")},
            "ties": row["ties"],
            "neither": row["neither"],
            "p_holm": row["p_holm"],
        }


WINS = Layout(
    name="serrano-smith-wins",
    title="Rankings against attention: which changes the decision with fewer removals",
    caption=(
        "Serrano & Smith 2019, section 5. Shares of all instances of several items (where items are words and "
        "sentences are known: of the documents of several sentences), those that neither ranking changes included, as "
        "in the paper, whose share of documents on which the gradient wins stands beside ours. p: exact sign test, "
        "Holm-corrected over all pairs of rankings. Random is its first order."
    ),
    columns=(
        Column("rival", "rival", meaning="The ranking that attention is compared with."),
        number("n", "n", "Instances that the shares are of."),
        *share("rival_wins", "rival wins", "Share in which the rival needs fewer removals than attention."),
        published("rival_wins", "The same share in the paper.", kind="percent", digits=1),
        *share("attention_wins", "attention wins", "Share in which attention needs fewer removals than the rival."),
        number("ties", "ties", "Instances in which both need as many."),
        number("neither", "neither", "Instances whose decision neither changes."),
        Column("p_holm", "p", "p", meaning="That both win equally often, corrected for the number of pairs."),
    ),
    rows=_rows,
    needs=("removal",),
    every=caveats,
)
