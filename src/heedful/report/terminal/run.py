"""What the experiments of a run found, in the terminal: Table 2 of Jain & Wallace 2019, rankings, the rest in words."""

import math
from collections.abc import Callable

import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.findings.published import measures_taken, published_tau, published_wins
from heedful.findings.run_facts import has_learned
from heedful.findings.run_summary import (
    Statistics,
    accuracies,
    attention_flips,
    curve_means,
    erased,
    gradient_against_attention,
    ranking_scores,
    statistics,
    tested_claims,
)
from heedful.findings.table_rows import VERDICTS
from heedful.printable import FEW_CLASSES, figure, percent, printable, spread
from heedful.runs.directory import Run

_WAYS = {"delete": "deleted", "unknown": "unknown", "blank": "blank"}


def erasure_table(frame: pl.DataFrame) -> Table:
    """One row a ranking: how much of a text goes before the decision changes, and what the first items are worth.

    Texts of one item say nothing about an order and are left out.
    """
    scores = erased(frame)
    table = Table(
        title=f"Share of items erased from {scores['n'][0]:,} texts until the decision changes (never: all)",
        title_justify="left",
        box=None,
    )
    table.add_column("ranking", no_wrap=True)
    ways = scores["way"].unique(maintain_order=True)
    for way in ways:
        for index, column in enumerate(("items", "compr.", "suff.")):
            table.add_column(f"{'' if index else _WAYS[way]}\n{column}", justify="right", overflow="fold")
    for ranking in scores["ranking"].unique(maintain_order=True):
        cells = []
        for way in ways:
            told = scores.row(by_predicate=(pl.col("ranking") == ranking) & (pl.col("way") == way), named=True)
            cells += [percent(told["fraction_all"]), figure(told["comprehensiveness"]), figure(told["sufficiency"])]
        table.add_row(ranking.replace("_", " "), *map(Text, cells))
    return table


_COLUMNS = ("never", "items", "or all", "attention", "or all")
_BEYOND = ("extra", "best")


def removal_table(frame: pl.DataFrame) -> Table:
    """How soon each ranking changes decisions: shares of the items and of the attention removed, where decisions that
    never change are left out, or counted as if everything was removed."""
    scores = ranking_scores(frame)
    known = any(row["excess"] is not None for row in scores)
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
    for row in scores:
        cells = [
            row["ranking"].replace("gradient_attention", "grad. x attention"),
            percent(row["never"]),
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
    wins = gradient_against_attention(run, frame)
    if wins is None:
        return "removal: attention and gradient were not compared"
    known = published_wins(run)
    whole = ", on all data," if run.manifest["corpus"]["subset"] else ""
    paper = "" if known is None else f" (in the paper{whole} {percent(known)})"
    return (
        f"removal: the decision changes sooner by gradient than by attention in {percent(wins.gradient)}{paper} of "
        f"{wins.n:,} {'documents of several sentences' if wins.documents else 'instances'}, later in "
        f"{percent(wins.attention)}"
    )


def claims_words(run: Run, single: pl.DataFrame | None, removed: pl.DataFrame | None) -> list[str]:
    """What the paper found, and whether it holds here."""
    return [
        f"- {VERDICTS[row['holds']]}: {row['claim']} ({percent(row['share'])} against {percent(row['against'])})"
        for row in tested_claims(run, single, removed)
    ]


def single_weight_words(frame: pl.DataFrame) -> str:
    """The table of flips in short, exact over all rivals."""
    row = attention_flips(frame)
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
    told = [
        f"by {figure(without)} without the items that {name} ranks first, by {figure(alone)} with only them"
        for name, (without, alone) in curve_means(frame).items()
    ]
    fall = "; ".join(told) if told else "as results/curves.parquet says"
    return f"curves: the probability of the decision falls {fall}"


def findings(run: Run) -> RenderableType:
    """Everything that was performed; nothing for what was not."""
    done = statistics(run)
    parts: list[RenderableType] = [_correlation(run, done["correlation"])] if "correlation" in done else []
    parts += [removal_table(done["removal"].frame)] if "removal" in done else []
    parts += [erasure_table(done["erasure"].frame)] if "erasure" in done else []
    return Group(*parts, *map(Text, _lines(run, done)))


def findings_words(run: Run) -> list[str]:
    """What was found, line by line, without the tables."""
    return _lines(run, statistics(run))


def _lines(run: Run, done: dict[str, Statistics]) -> list[str]:
    lines = [_WORDS[name](run, figures) for name, figures in done.items() if name in _WORDS]
    frames = {name: figures.frame for name, figures in done.items()}
    found = claims_words(run, frames.get("single_weight"), frames.get("removal"))
    doubt = (
        "" if not found or has_learned(run) else " (but this model is right no more often than its most frequent class)"
    )
    return [*lines, f"what Serrano & Smith found{doubt}:", *found] if found else lines


def _correlation(run: Run, figures: Statistics) -> Table:
    table = Table(title="Kendall's tau of attention and importance", title_justify="left", box=None)
    measures = measures_taken(figures.frame.columns)
    groups = [*(figures.decisions if len(run.classes) <= FEW_CLASSES else []), None]
    published = {
        (measure, decision): published_tau(run, measure, decision) for measure in measures for decision in groups
    }
    table.add_column("importance", no_wrap=True)
    table.add_column("decided", overflow="ellipsis", no_wrap=True, max_width=20)
    paper_column = "in the paper,\non all data" if run.manifest["corpus"]["subset"] else "in the paper"
    known = any(published.values())
    for column in ("instances", "mean±std", "p≤0.05", *((paper_column, "p≤0.05") if known else ())):
        table.add_column(column, justify="right", no_wrap=True)
    for measure in measures:
        quantity = f"attention_{measure}"
        for decision in groups:
            name = "all" if decision is None else printable(run.classes[decision])
            count, mean, std = (figures.get(f"tau_{quantity}", which, decision) for which in ("n", "mean", "std"))
            significant = percent(figures.get(f"significant_{quantity}", decision=decision))
            cells = [measure.replace("_", "-"), name, f"{count:,}", spread(mean, std), significant]
            paper = published[measure, decision]
            if paper is not None:
                cells += [spread(paper.mean, paper.std), percent(paper.significant)]
            table.add_row(*map(Text, cells))
        undefined = figures.get(f"tau_{quantity}", "undefined")
        if undefined:
            table.add_row(Text(measure.replace("_", "-")), Text("undefined"), Text(f"{undefined:,}"))
    return table


def _permutation(run: Run, figures: Statistics) -> str:
    words = (
        f"permutation: the same weights in random order move the output by {figure(figures.get('median'))} (TVD, 0 to "
        "1; mean of the medians)"
    )
    exact = figures.get("can_change")
    if exact is None:
        return f"{words}; {percent(figures.get('changed'))} of these orders change the decision"
    return f"{words}; some order changes the decision of {percent(exact)} of the instances"


def _adversary(run: Run, figures: Statistics) -> str:
    if figures.get("certified") == 1:
        return f"adversary: {_away(run, figures)}; the exact optimum"
    return f"adversary: {_away(run, figures)}; what no attention exceeds is {figure(figures.get('upper'))}"


def _search(run: Run, figures: Statistics) -> str:
    return f"adversary search: {_away(run, figures)}, as far as the paper's search finds"


def _away(run: Run, figures: Statistics) -> str:
    epsilon = run.config.experiment_options.epsilon
    distance = f"{figure(figures.get('jsd'))} (JSD; {math.log(2):.2f}: nothing in common)"
    return f"other attention can be {distance} away while the output moves by {epsilon:g} at most"


def _reach(run: Run, figures: Statistics) -> str:
    free = figures.get("can_change")
    irrelevant = percent(None if free is None else 1 - free)
    return f"reach: in {irrelevant} of the instances no attention could change the decision"


def _substitution(run: Run, figures: Statistics) -> str:
    scores = ", ".join(f"{weights} {figure(score, 3)}" for weights, score in accuracies(figures.frame).items())
    return f"substitution: accuracy with weights that are {scores}"


def _violation(run: Run, figures: Statistics) -> str:
    share = percent(figures.get("violates"))
    return f"violation: the most attended item argues against the decision in {share} of the instances"


def _truth(run: Run, figures: Statistics) -> str:
    mass, share = percent(figures.get("mass")), percent(figures.get("share"))
    return f"truth: {mass} of the attention lies on the items that decide, which are {share} of all"


_WORDS: dict[str, Callable[[Run, Statistics], str]] = {
    "permutation": _permutation,
    "adversary": _adversary,
    "adversary_search": _search,
    "reach": _reach,
    "substitution": _substitution,
    "violation": _violation,
    "single_weight": lambda run, figures: single_weight_words(figures.frame),
    "removal": lambda run, figures: removal_words(run, figures.frame),
    "curves": lambda run, figures: curves_words(figures.frame),
    "truth": _truth,
}


def run_summary(run: Run) -> RenderableType:
    """What a person wants to read when a run is done."""
    manifest, metrics = run.manifest, run.metrics
    corpus, config = manifest["corpus"], run.config
    title = f"{run.corpus_label}, {run.model_label}"
    table = Table(title=f"{title}, preset {config.preset}, seed {config.seed}", title_justify="left", box=None)
    few = len(corpus["classes"]) <= FEW_CLASSES
    figures = {"accuracy": "accuracy", "macro_f1": "macro F1"}
    if not corpus.get("query"):  # runs of earlier versions say nothing about queries
        figures |= {"roc_auc": "ROC-AUC", "average_precision": "avg. precision"}
    table.add_column("split")
    for column in ("instances by class" if few else "instances", *figures.values()):
        table.add_column(column, justify="right")
    for split in ("train", "dev", "test"):
        counts = (
            corpus["counts"][split] if few else [corpus.get("sizes", {}).get(split) or sum(corpus["counts"][split])]
        )
        known = metrics.get(split)
        cells = (_figure(known[key]) if known else "" for key in figures)
        table.add_row(split, " / ".join(f"{count:,}" for count in counts), *cells)
    classes = f"{len(corpus['classes']):,}, of which {sum(map(bool, corpus['counts']['test'])):,} occur in test"
    if few:
        classes = ", ".join(f"{index} {printable(name)}" for index, name in enumerate(corpus["classes"]))
    seconds = sum(stage["seconds"] for stage in manifest["stages"].values())
    about = Text(
        f"classes: {classes}\n"
        f"{corpus['vocabulary']:,} words, {corpus['mean_length']:.0f} tokens a text; {seconds:.0f} s in all"
    )
    return Group(table, about, findings(run))


def run_place(run: Run) -> str:
    """Where the files are; to be printed without wrapping, because a path is there to be copied."""
    return f"written to {run.folder}\nsee an instance: heedful show {run.folder}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
