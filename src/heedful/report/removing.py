"""What removing items found, in the terminal: Serrano & Smith 2019."""

import polars as pl
from rich.table import Table
from rich.text import Text

from heedful.evidence import collect, scan
from heedful.experiments import claims, flip_table, removal_scores, removal_wins
from heedful.report.beside import published_wins
from heedful.report.numbers import figure, percent
from heedful.runs.directory import Run

_COLUMNS = ("never", "items", "or all", "attention", "or all")
_BEYOND = ("extra", "best")

VERDICTS = {True: "holds", False: "does not hold", None: "not significant here"}


def removal_table(frame: pl.DataFrame) -> Table:
    """How soon each ranking changes decisions: shares of the items and of the attention removed, where decisions that
    never change are left out, or counted as if everything was removed."""
    scores = removal_scores(frame, draws=0)
    known = scores["excess"].is_not_null().any()
    table = Table(
        title="Share of items and of attention removed until the decision changes",
        title_justify="left",
        box=None,
    )
    table.caption = "or all: a decision that never changes counts as everything removed" + (
        "; extra: items beyond the smallest set that does it; best: how often there are none" if known else ""
    )
    table.caption_justify = "left"
    table.add_column("ranking", no_wrap=True)
    for column in (*_COLUMNS, *(_BEYOND if known else ())):
        table.add_column(column, justify="right", overflow="fold")
    for row in scores.iter_rows(named=True):
        cells = [
            row["ranking"].replace("gradient_attention", "grad. x attention"),
            percent(row["never"] / row["n"] if row["n"] else None),
            *(figure(row[name]) for name in ("fraction", "fraction_all", "mass", "mass_all")),
        ]
        if known:
            cells += [figure(row["excess"], 1), percent(row["optimal"])]
        table.add_row(*map(Text, cells))
    return table


def removal_words(run: Run, frame: pl.DataFrame) -> str:
    """How often gradient and attention win against each other; the paper's figure beside it, where there is one.

    The shares are of all instances of several items, as in the paper, also of those that neither changes; where items
    are words, of the documents of several sentences.
    """
    only = several_sentences(run)
    wins = removal_wins(frame, only=only, draws=0)
    wins = wins.filter((pl.col("first") == "attention") & (pl.col("second") == "gradient"))
    if not len(wins):
        return "removal: attention and gradient were not compared"
    row = wins.row(0, named=True)
    total, gradient, attention = row["n"] + row["neither"], row["second_all"], row["first_all"]
    known = published_wins(run)
    whole = ", on all data," if run.manifest["corpus"]["subset"] else ""
    paper = "" if known is None else f" (in the paper{whole} {percent(known)})"
    return (
        f"removal: the decision changes sooner by gradient than by attention in {percent(gradient)}{paper} of "
        f"{total:,} {'instances' if only is None else 'documents of several sentences'}, later in {percent(attention)}"
    )


def several_sentences(run: Run) -> pl.Series | None:
    """Which documents have more than one sentence, where items are words and sentences are known; None: no matter."""
    path = run.folder / "evidence.parquet"
    there = scan(path).collect_schema().names()
    if "sentences" not in there or "words" in there:
        return None
    return collect(scan(path).select(pl.col("sentences").list.len() > 1), path)["sentences"]


def has_learned(run: Run) -> bool:
    """Whether the model is right more often than its most frequent class: what is found of one that has learned nothing
    is about nothing."""
    counts = run.manifest["corpus"]["counts"]["test"]
    usual = max(counts) / sum(counts) if sum(counts) else 0.0
    accuracy = run.metrics["test"]["accuracy"]  # None without labels
    return accuracy is not None and bool(accuracy > usual)


def claims_words(run: Run, single: pl.DataFrame | None, removed: pl.DataFrame | None) -> list[str]:
    """What the paper found, and whether it holds here."""
    return [
        f"- {VERDICTS[row['holds']]}: {row['claim']} ({percent(row['share'])} against {percent(row['against'])})"
        for row in claims(single, removed, only=several_sentences(run)).iter_rows(named=True)
        if row["share"] is not None
    ]


def single_weight_words(frame: pl.DataFrame) -> str:
    """The table of flips in short, exact over all rivals."""
    expected = (pl.col("ranking") == "attention") & (pl.col("rival") == "expected")
    row = flip_table(frame, draws=0).filter(expected).row(0, named=True)
    both, top, rival, neither, negative = (
        percent(row[name]) for name in ("both", "top_only", "rival_only", "neither", "negative")
    )
    return (
        f"single weight: of the most attended item and another one, removing either changes {both} of the decisions, "
        f"only the first {top}, only the other {rival}, neither {neither}; the other one moves the output more in "
        f"{negative}"
    )


def curves_words(frame: pl.DataFrame) -> str:
    """Mean comprehensiveness and sufficiency of attention and gradient."""
    told = []
    for name in ("attention", "gradient"):
        if f"{name}_comprehensiveness" in frame.columns:
            figures = (pl.col(f"{name}_{kind}").mean() for kind in ("comprehensiveness", "sufficiency"))
            without, alone = frame.select(figures).row(0)
            told.append(
                f"by {figure(without)} without the items that {name} ranks first, by {figure(alone)} with only them"
            )
    fall = "; ".join(told) if told else "as results/curves.parquet says"
    return f"curves: the probability of the decision falls {fall}"
