"""Which ranking changes decisions sooner than attention: Serrano & Smith 2019, section 5."""

from collections.abc import Iterable

import polars as pl

from heedful.experiments import claims, flip_table, removal_scores, removal_wins
from heedful.experiments.single_weight import SHARES
from heedful.findings.published import caveats, published_wins
from heedful.findings.run_facts import has_learned, several_sentences
from heedful.findings.source import Source
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout, estimate, number, published, share
from heedful.report.tables.table import Column

VERDICTS = {True: "holds", False: "does not hold", None: "not significant here"}


def _claim_rows(source: Source) -> Iterable[Cells]:
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
    rows=_claim_rows,
    needs=("evidence",),
    better=("single_weight", "removal"),
)


def ranking_name(ranking: str) -> str:
    """A name for people.

    >>> ranking_name("gradient_attention"), ranking_name("leave_one_out")
    ('gradient x attention', 'leave one out')
    """
    return ranking.replace("gradient_attention", "gradient x attention").replace("_", " ")


_TITLES = {
    "both": ("both", "Share in which removing either item changes the decision."),
    "top_only": ("first only", "Share in which only removing the item that ranks first does."),
    "rival_only": ("rival only", "Share in which only removing the rival does."),
    "neither": ("neither", "Share in which neither does."),
    "negative": ("rival more", "Share in which removing the rival moves the output more."),
}


def _flip_rows(source: Source) -> Iterable[Cells]:
    for row in flip_table(source.results("single_weight"), seed=SEED, draws=DRAWS).iter_rows(named=True):
        yield {**row, "ranking": ranking_name(row["ranking"])}


FLIPS = Layout(
    name="serrano-smith-flips",
    title="Decisions changed by removing one item",
    caption=(
        "Serrano & Smith 2019, section 4: the item that ranks first by attention, gradient or both is removed, or "
        "another one, the rival. drawn: one rival an instance, drawn at random, as in the paper; expected: the exact "
        "mean over all rivals. Shares of the instances of several items."
    ),
    columns=(
        Column("ranking", "first by", meaning="The ranking whose first item is removed."),
        Column("rival", "rival", meaning="drawn: one at random; expected: over all."),
        number("n", "n", "Instances of several items."),
        *(column for name in SHARES for column in share(name, *_TITLES[name])),
    ),
    rows=_flip_rows,
    needs=("single_weight",),
)


def _ranking_rows(source: Source) -> Iterable[Cells]:
    for row in removal_scores(source.results("removal"), seed=SEED, draws=DRAWS).iter_rows(named=True):
        never = row["never"] / row["n"] if row["n"] else None
        yield {**row, "ranking": ranking_name(row["ranking"]), "never": never}


RANKINGS = Layout(
    name="serrano-smith-rankings",
    title="Share of items and of attention removed until the decision changes",
    caption=(
        "Serrano & Smith 2019, section 5: items are removed in the order of a ranking until the decision changes. The "
        "paper leaves out decisions that never change; in the columns `or all` they count as everything removed. The "
        "smallest set of items that changes the decision (optimal) is exact, and known where the decoder is affine; "
        "extra and best compare with it. Random is the mean over its orders."
    ),
    columns=(
        Column("ranking", "ranking", meaning="In whose order items are removed."),
        number("n", "n", "Instances of several items."),
        Column("never", "never", "percent", 1, "Share of instances whose decision no removal in this order changes."),
        *estimate("fraction", "items", "Share of the items removed where the decision changes.", std=True),
        *estimate("fraction_all", "or all", "The same with all items where it never changes."),
        *estimate("mass", "attention", "Share of the attention on the removed items, where it changes.", std=True),
        *estimate("mass_all", "or all", "The same with all attention where it never changes."),
        *estimate("excess", "extra", "Items removed beyond the smallest set that changes the decision.", digits=1),
        *share("optimal", "best", "How often there are none beyond it."),
    ),
    rows=_ranking_rows,
    needs=("removal",),
)


def _win_rows(source: Source) -> Iterable[Cells]:
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
    rows=_win_rows,
    needs=("removal",),
    every=caveats,
)
